"""The trees of leads.py in numbers; written by benchmarks/fit_leads.py."""

BIAS = 3.86

# The feature of each question, four a tree.
ASKED = """
height_a agreed_after there_b fit_a before height_b agreed_before agreed_after height_b there_a
agreed_before usual_fit_b height_b agreed_before agreed_after right_a height_b agreed_before
right_b agreed_after fit_a agreed_before there_a there_b before height_a before usual_fit_b after
there_a agreed_after usual_fit_b before fit_a agreed_after height_a after fit_a height_b height_b
after height_b there_a height_b fit_a height_a height_a right_a fit_b after there_a height_b fit_b
fit_a height_b agreed_after fit_b there_a height_b fit_a fit_b height_a height_b there_a after
fit_a contrast_a there_b after fit_a contrast_a height_a fit_b fit_a agreed_after right_b fit_b
after height_a height_a fit_b after height_a usual_fit_b fit_b before agreed_after there_a after
there_a usual_fit_b right_b before fit_a before agreed_after height_b height_a height_b
usual_fit_b fit_b before fit_b right_a height_b there_a agreed_after agreed_before before height_b
after contrast_a height_b height_a height_a usual_fit_a fit_b after fit_a before fit_b fit_a
there_a usual_fit_b fit_a height_b usual_fit_a height_a fit_b there_a height_b usual_fit_a fit_b
height_a contrast_b fit_b before before agreed_after height_a fit_b after height_b there_b fit_b
after fit_a height_b before fit_a height_b right_a fit_b height_a before agreed_after fit_a
agreed_before agreed_before agreed_before height_b there_a height_b usual_fit_b after height_b
usual_fit_a contrast_a fit_a after height_b after fit_b height_a contrast_b fit_b fit_b fit_a
before height_b after before after before height_a height_a level_a right_b after usual_fit_b
height_b height_b fit_b fit_a after height_b after height_a after height_b fit_a height_b
usual_fit_a height_a before height_a usual_fit_a there_a fit_b agreed_before fit_b agreed_before
before after right_b usual_fit_a fit_b height_b before agreed_after before after contrast_b
usual_fit_a fit_a height_a fit_a after fit_a height_a height_b there_b fit_a height_b there_b
height_b before after height_a there_b fit_b fit_a fit_b height_b before after before after after
height_a contrast_b after fit_b height_a usual_fit_b fit_b fit_a height_b there_b contrast_b
before height_b right_b there_b fit_a height_b after there_b fit_a height_a height_b height_a
fit_b before after before height_b there_b usual_fit_a contrast_b fit_a height_b usual_fit_a
contrast_a after height_a contrast_b contrast_a agreed_after height_b contrast_a right_a fit_b
before after agreed_before fit_a usual_fit_a right_b agreed_after fit_b height_a before after
usual_fit_b fit_a agreed_before agreed_after fit_b level_b before agreed_before height_a level_a
height_b height_a fit_b height_a height_b agreed_after
"""

# In thousandths: is the feature above it?
THRESHOLDS = """
-658 -519 0 871 -225 -254 -767 -519 -254 0 -511 919 -254 -511 -120 889 -400 -229 889 -230 918 -767
0 0 -121 -255 -739 919 -223 0 -519 946 -121 932 -120 -1222 -123 932 -134 471 -123 -180 0 471 918
-255 469 889 870 -123 0 -180 870 932 -658 -120 897 0 -658 950 897 -181 -658 0 -123 942 3229 0 -123
950 3460 469 917 768 -230 889 917 -223 -136 274 917 -82 -181 952 932 -570 -802 0 -123 0 952 556
-121 950 -962 -802 -658 -136 471 919 831 -570 942 444 -658 0 -802 -767 -121 -658 -82 2721 -400
-136 469 919 932 -223 950 -962 932 768 0 957 950 -1220 953 469 932 0 -1220 953 831 -181 3229 949
-121 -962 -802 -1222 831 -82 -400 0 932 -223 956 -1220 -121 768 -1220 556 949 -1222 -570 -802 956
578 95 -75 -658 0 277 952 -82 -1220 946 3116 956 -61 -1220 -769 949 -1222 3003 765 949 768 -739
-61 -82 -962 -769 -570 -181 274 -96 556 -61 965 277 -79 949 956 -769 -1220 -61 -1222 -769 -1220
956 -1220 953 -33 -81 469 957 0 831 1386 955 95 -570 -1000 889 855 831 -134 -570 -802 -60 -48 3461
953 956 -255 871 -769 918 -136 -22 0 960 -1220 0 471 -962 -580 -1222 0 955 768 765 -61 -962 -580
-739 -1000 -223 -1222 2640 -769 955 -1222 965 765 960 -658 0 2720 -962 471 667 0 918 -1220 -769 0
768 469 -61 -22 955 -962 -769 -570 471 0 946 2388 968 -658 939 3116 -48 -1222 3003 2721 89 -79
3229 556 955 -962 -580 -767 768 -550 444 89 765 -61 -739 -769 -547 460 -511 47 955 76 -570 95 469
-125 0 -255 831 -61 -33 154
"""

# Log odds in hundredths, sixteen a tree; first answer highest.
LEAVES = """
-471 -393 -362 -163 -403 -316 -136 -12 -460 -101 -90 6 -240 -1 3 10 -22 -64 -21 -31 -19 -65 -7 1 0
0 -18 2 0 0 6 10 -42 -40 -40 -34 -22 -25 -2 -10 -40 -16 -27 3 -7 -7 9 10 -21 -35 -29 -5 -18 -19
-11 8 -21 -20 -19 5 -3 6 5 10 -21 -25 -18 -4 -21 -15 -10 8 -13 -18 -10 8 -5 6 8 10 0 -24 -17 -34 0
-15 -11 4 0 -19 -13 6 0 -3 5 10 -26 -12 -16 -10 -5 -12 4 1 0 0 -1 5 0 0 9 10 -10 -1 -35 -12 -4 -11
-2 -9 0 0 -11 5 0 0 9 10 -10 -15 -29 -3 -16 5 -29 9 -9 1 0 9 -14 10 3 10 -18 0 -1 -26 4 0 9 4 3 0
9 6 10 0 10 9 -20 0 -11 0 -4 -19 5 -17 -21 0 7 0 6 -4 10 7 -10 -4 0 0 -3 5 -12 -23 -14 5 0 0 8 10
4 1 -19 -24 -11 -12 -24 -9 5 9 -14 12 4 9 3 9 10 10 -16 -15 -16 -5 1 3 4 10 -17 -9 11 8 4 5 10 10
-18 -8 -18 -11 -13 4 -1 9 -18 -19 10 6 -9 8 10 10 -17 -15 -17 -2 -16 -6 -7 2 -18 -9 10 10 3 2 9 10
-10 -3 -6 -15 3 9 4 8 5 8 5 6 9 10 9 10 -4 -12 -11 -25 7 5 9 -19 7 6 6 -1 10 9 10 6 -13 -11 -10 2
-7 -4 2 8 14 7 7 10 11 9 9 10 -13 0 0 -13 -1 0 8 4 11 0 9 4 9 0 10 9 -11 -15 2 -10 -1 3 8 7 8 11 9
8 9 10 10 10 -9 -1 -14 -7 -12 -18 -7 5 18 11 4 9 18 -4 10 10 -4 -10 12 -10 5 1 -8 -5 1 -9 10 -4 9
7 6 9 4 -10 -7 -1 10 1 5 8 0 0 -8 7 0 0 8 10 -13 -13 0 0 1 -4 0 0 -4 4 6 -17 7 7 -3 -19 0 -9 0 0 6
-2 0 0 5 -3 8 10 11 6 9 10 -6 -12 -12 -13 2 -3 -11 -5 10 3 -6 -4 5 -14 -6 7 -9 -6 -4 -3 1 -5 6 6
-5 -1 1 7 7 6 10 10 -13 -9 0 0 -3 5 2 -11 3 0 0 0 7 7 -2 -17 -10 -6 4 6 -9 5 5 10 8 10 7 9 5 9 5
10 -9 -10 0 -9 -4 -9 5 -1 8 10 9 8 6 11 9 10 -12 -7 -7 -15 3 -1 -2 -17 -9 11 8 -42 9 9 10 -26 -2
-11 -5 -10 -10 1 3 0 -11 -14 9 9 -17 -5 9 10 -9 0 -5 0 2 0 -6 0 2 10 -1 10 6 9 1 10 10 2 -13 -5 6
-8 -6 1 0 0 0 0 -7 -4 0 8 -4 -5 6 -7 -3 4 10 4 -1 -10 11 6 6 5 10 9 -9 -4 4 8 -8 3 6 10 -14 8 -3 9
-20 9 5 10 -9 -8 -1 -3 2 -13 7 2 9 -13 7 2 7 -5 10 9 1 -12 -6 -5 1 -3 -11 4 13 -1 15 8 12 8 0 10
-2 5 0 -7 0 0 0 4 6 10 0 7 0 0 0 8 -12 -6 0 0 -2 -3 0 0 -4 5 2 -14 6 4 1 -13 -10 4 1 2 1 3 0 -7
-11 -8 5 -2 5 4 8 8 -4 -9 -2 0 0 -7 0 5 9 -13 7 8 0 5 0 10 -11 -8 -4 2 -1 6 -3 -2 0 5 0 10 0 9 0 9
-9 -3 -2 -1 -2 0 4 3 -6 10 0 10 -5 9 8 10 4 0 -11 0 1 -6 -3 6 0 0 -2 0 0 0 4 7 -3 -4 4 -3 0 0 0 0
-4 1 5 5 5 5 4 -7 -2 4 0 -1 -3 1 0 -17 2 4 0 5 6 9 0 3 -3 -4 -8 1 9 7 -10 8 -8 10 -17 5 1 9 -15 10
-8 3 -11 -8 1 -3 -8 2 0 0 -11 -11 0 0 -4 7 -11 -1 -2 -2 0 3 -1 -6 -23 5 0 8 5 9 7 9 -2 1 -4 2 4 -1
6 -17 4 5 2 9 6 -7 7 -6 -2 -7 0 0 0 5 0 0 2 1 8 7 0 7 0 9 1 4 1 9 -2 -5 4 -7 -7 -5 -15 -23 3 5 7 6
0 -4 -5 2 -4 -3 -11 0 1 -7 -11 4 12 3 6 7 0 -1 -1 -10 0 5 1 5 3 3 3 3 5 10 7 9 1 -2 -11 -8 -4 2 1
3 0 0 -11 -7 0 0 9 7 -3 -5 9 3 0 1 12 -5 -12 -1 4 -3 5 9 6 7 -5 0 0 0 4 13 0 -6 2 0 8 0 7 7 9 -3 0
1 3 3 -6 -15 -4 -8 71 0 0 -3 -8 -5 5 5 -4 -3 -1 3 2 -2 1 4 0 0 -2 9 0 0 5 9 4 -1 0 0 0 -7 0 0 5 0
-6 0 0 -4 0 5 -3 -10 7 -7 1 3 -3 -2 0 -10 0 -1 0 4 0 3 -7 -3 -7 2 -1 5 -2 -5 0 5 0 7 0 9 0 8 1 -5
-9 0 5 10 0 -1 8 -2 5 9 9 1 9 7 -2 -1 -1 -5 11 1 16 -9 1 2 2 2 9 7 9 -10 -7 16 -5 -7 3 -2 6 0 8 -1
-10 9 3 0 3 6 -5 1 2 1 0 -3 0 -7 -2 5 3 5 0 3 0 -6 2 0 -6 0 1 -5 -2 4 10 0 -7 0 10 7 5 9 2 -4 8 4
0 4 -1 -2 9 13 3 13 3 -8 -2 -5 -5 3 0 -2 2 3 0 -3 -10 8 6 7 8 6 8 8 2 -11 1 6 1 2 0 -3 -7 -11 -3
-6 2 7 3 5 5 -2 9 -5 6 4 -3 0 -3 -3 2 8 0 -5 0 -4 2 1 -7 -5 1 -2 -5 4 7 9 -15 1 10 7 -1 8 1 -10 7
0 9 -1 -1 -3 -10 5 -2 2 9 5 2 -1 -7 -8 -5 1 5 -1 -3 4 8 -5 3 5 6 0 -8 4 9 0 8 -3 -5 7 4 1 -1 0 -1
-5 -2 -1 3 1 -1 -7 0 1 3 -1 1 3 6 0 7 9 3 1 6 8 -6 -2 4 4 -3 3 3 1 0 9 0 -4 0 -3 0 -7 -5 0 -2 -2 3
1 1 -9 -3 0 8 2 3 1 2 -5
"""
