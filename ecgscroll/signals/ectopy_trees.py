"""The trees of ectopy.py in numbers; written by benchmarks/fit_ectopy.py."""

BIAS = -2.47

# The feature of each question, four a tree.
ASKED = """
t_unlike width spread pause shape_width unlike sharper alike distance early distance pause_seg
shape_spread early widening alike distance discordant shape_spread distance shape_width sharp
sharp unlike_worst unlike_best sharp discordant sharp unlike_best unlike_best p_unlike distance
unlike sharp sharp pause distance larger pause distance shape_width discordant unlike p_unlike
sharper shape_pause p_distance both share sharper early steeper shape_width shape_pause irregular
distance unlike early unlike shape_spread share sharp sharp taller share early_seg sharper
spreading sharper early spread alike unlike_best unlike_best pause distance shape_width width
taller distance discordant p_unlike sharper discordant discordant unlike_worst t_unlike
shape_pause discordant early_seg shape_spread larger early shape_spread t_unlike shape_pause share
steeper t_unlike steeper sharp shape_early sharp steeper sharp early_seg sharp unlike unlike_best
unlike_best taller shape_width shape_early unlike_worst t_unlike taller sharper unlike_best
unlike_best taller p_unlike sharper early taller sharp pause_seg both distance pause_seg sharper
t_unlike steeper width irregular shape_pause taller early_seg both irregular irregular discordant
sharp early_seg unlike_best width pause both p_unlike p_unlike unlike_worst alike taller share
p_distance pause steeper shape_early shape_early shape_spread shape_spread discordant spread
t_unlike unlike_worst pause_seg sharper alike spreading sharp pause sharp unlike_best discordant
share spreading share discordant p_unlike discordant width spread shape_early shape_early
unlike_best discordant share spread unlike_best t_unlike taller irregular p_distance shape_width
t_unlike steeper distance sharp alike pause_seg p_distance spread shape_width shape_width
shape_pause width unlike_worst width unlike_worst early_seg t_unlike sharper early_seg width prev
irregular irregular sharp shape_pause sharp t_unlike p_unlike shape_width alike spread pause_seg
both prev spreading p_unlike p_distance steeper unlike spread p_distance irregular shape_pause
p_unlike p_distance early_seg shape_spread discordant share steeper unlike_worst share p_distance
steeper unlike_worst spread spread shape_spread alike t_unlike taller alike shape_spread sharp
early_seg sharp irregular pause_seg both unlike_worst early_seg sharp pause_seg irregular
unlike_best width irregular steeper width sharp spread sharp early t_unlike steeper steeper alike
share unlike shape_early taller share unlike_worst shape_pause shape_spread p_unlike t_unlike
early_seg share unlike_worst p_distance pause t_unlike p_unlike unlike_best share unlike_best
sharp shape_width taller spread p_distance steeper steeper p_distance prev p_distance width
pause_seg share p_distance share taller shape_early early_seg irregular larger
"""

# In thousandths: is the feature above it?
THRESHOLDS = """
780 4883 1895 129 30 168 -111 947 395 -66 995 211 17 -188 117 947 395 0 5 917 30 -1674 -856 879 61
-1486 0 -1066 61 0 395 668 168 -1486 -1026 169 395 -316 34 734 30 0 232 1326 -111 65 212 139 500
-111 -237 -173 30 20 36 58 168 -93 1 5 500 -1026 -1674 257 500 -101 -166 157 -111 -147 1861 994 30
0 68 734 30 5338 -170 668 291 207 -251 -427 200 157 1820 33 404 -130 264 1163 -93 5 1820 20 500
-221 1820 528 -1026 -246 -1346 528 -989 -272 -1346 168 30 0 -313 96 -9 998 1820 257 -111 0 30 -313
323 -111 -378 -170 -1066 170 139 1565 127 -166 1820 315 4754 170 110 1052 -59 -47 36 42 107 -1066
-272 100 4754 212 139 102 126 879 996 257 593 29 -63 -221 -9 18 -1 -2 200 1501 1820 879 170 -166
966 98 -989 277 -1674 30 107 500 126 30 -332 82 200 5338 1501 -9 18 3 -332 593 1963 9 1820 257 36
39 1 1820 315 995 -1066 993 170 52 1501 -2 -1 -54 4605 879 5513 70 -272 1820 -251 -646 4754 -242
42 36 -1026 216 -1674 1820 102 -2 947 1963 170 139 164 157 102 52 -133 205 1501 39 36 11 82 52
-272 -1 -332 593 -173 47 593 67 -133 879 1501 2098 2 966 1820 257 947 53 -748 -4 -1486 170 127 139
998 -646 -856 170 170 19 4605 170 -221 5236 -748 2098 -1486 -93 1820 528 -221 905 593 96 -63 -170
593 47 -13 -2 82 1820 -272 960 879 45 -46 352 82 0 593 3 -1026 -2 -170 1963 20 -65 117 662 287 97
4754 211 986 52 500 -61 -246 -646 245 1403
"""

# Log odds in hundredths, sixteen a tree; first answer highest.
LEAVES = """
-11 0 9 21 -6 32 63 65 1 54 4 51 71 102 75 93 8 -8 -2 -10 36 4 37 -5 10 38 -7 -3 50 51 29 33 -9 13
0 0 -10 0 0 0 29 36 38 32 -2 17 35 18 31 -4 35 21 13 -10 0 -8 28 31 25 27 4 -1 14 27 -11 0 -8 0 -8
0 16 0 0 -6 -4 20 23 25 25 24 68 54 0 0 -9 12 -10 -3 16 20 0 0 19 22 -4 10 -7 0 37 0 -5 -10 -6 -10
16 0 18 0 15 -5 20 19 29 2 30 2 -10 4 -5 5 0 0 0 0 0 10 9 16 26 12 0 0 -6 3 -10 -6 16 14 0 0 16 16
-4 16 1 0 39 0 -9 0 -8 0 -5 -2 10 15 -3 12 12 14 -10 14 -7 -10 -7 11 15 10 -9 5 6 8 14 15 15 15 5
-2 13 9 15 12 14 5 -9 -9 -3 -6 15 0 11 -2 13 13 13 10 14 11 -3 -1 18 -3 0 -7 60 -10 -9 -10 -9 -10
14 -6 19 9 15 -4 10 5 0 8 16 13 2 11 1 12 -5 10 3 17 -9 -5 0 0 11 12 0 0 -4 4 17 7 11 12 0 0 -6 10
29 9 -7 -2 0 0 -10 -7 11 11 9 6 7 10 -1 -10 4 8 -7 34 -3 8 -9 -10 12 11 8 10 4 2 1 13 9 -7 3 14 -7
-10 -5 21 18 0 13 2 -9 -12 -6 -10 0 0 0 0 -5 7 8 10 6 6 -9 -1 -4 1 16 9 1 7 4 11 -5 -7 5 2 -18 7
-10 -9 1 10 -8 -1 0 -2 0 -5 0 11 0 11 -10 -8 -8 -10 -2 7 -15 -17 -1 8 0 -11 11 11 -3 5 7 -13 -5 9
-9 -18 -3 11 10 3 11 11 6 7 8 10 0 8 -5 -14 6 10 -11 1 -8 -2 -8 -16 -2 6 -16 -5 7 0 -7 0 5 13 1
-18 17 0 0 0 -9 0 6 0 9 -19 10 7 12 -9 1 9 0 0 6 9 0 0 -10 -3 -1 8 8 9 14 7 -5 4 0 0 -3 5 0 0 -10
-7 -2 0 15 2 19 -4 -8 -12 0 0 0 0 2 -6 0 8 1 9 -7 -7 6 10 -4 -5 -8 5 -10 -8 5 7 -8 -11 0 10 0 0 8
-4 -7 8 -1 14 0 0 15 -8 -1 0 3 -4 7 -5 2 -7 -5 -8 -9 9 4 7 12 2 -4 -2 6 8 -5 0 10 1 3 -19 -8 -10
-10 -1 9 -9 -1 -9 5 8 -4 -10 -6 10 -9 -11 9 8 3 -20 5 10 -5 -7 -9 -4 7 0 -3 -1 4 0 3 8 10 8 -1 -7
5 -17 3 0 3 0 7 0 10 6 -7 0 8 0 -7 0 9 -5 5 3 -6 1 6 -3 -10 -8 2 10 7 9 -5 8 -8 6 -10 -8 -7 -8 -1
10 -4 1 -7 4 -7 -8 -6 8 -6 -3 -8 -12 -9 2 0 4 -4 -4 -5 4 5 3 5 6 0 8 8 86 -1 14 -1 0 6 2 0 4 -1 -5
10 -9 13 -9 -1 -5 0 4 0 0 0 0 -7 -7 0 -9 0 59 0 -3 -10 -9 0 -7 -5 2 -15 -12 -7 -5 0 0 6 10 -2 2 2
-6 6 9 3 -6 -4 -5 4 3 -5 10 8 0 0 12 14 5 -1 5 9 -12 -4 8 0 0 -10 -6 0 0 -1 6 4 -6 -9 -1 0 -9 0 10
9 10 5 9 0 -3 0 -3 -10 -7 0 0 -6 -9 0 0 -7 -3 -9 -1 2 -13 7 8 -8 -7 0 0 -10 -10 -8 -9 9 2 0 0 -10
-6 19 -1 -10 -5 -11 -6 -10 -5 -1 6 13 6 11 -4 -10 -1 15 -2 -5 -5 13 -1 -1 9 0 7 0 2 0 -9 0 0 0 -10
-4 0 9 1 -7 -8 -1 -10 1 8 8 7 -10 2 -3 -13 20 -1 6 4 10 6 9 4 13 -6 0 4 -10 -9 -1 -3 -6 -10 0 0 -3
-6 -4 -9 -1 -4 0 0 43 0 -2 3 -10 -10 0 0 0 2 0 0 -2 0 11 -14 0 5 0 -9 -4 8 -1 5 -15 -1 -1 -6 0 6 0
-3 0 -10 0 -9 3 -2 0 1 -8 -7 0 -3 6 1 0 -8 1 13 0 1 11 -1 2 -2 3 -19 7 0 0 0 -6 -10 0 0 8 -8 0 -2
-9 -7 -2 -3 -8 2 5 -3 -7 -2 2 -10 4 5 -1 -3 4 3 -9 -11 -4 3 2 11 5 5 -7 1 2 1 4 -2 -8 -3 -8 -1 -9
-6 8 1 11 4 7 1 -6 1 -9 -4 -8 -5 -9 -8 -7 -6 -9 15 19 1 -5 7 0 0 -1 -2 -6 -7 -6 -9 -7 -9 1 1 19 3
3 3 -5 -2 -2 2 -7 -8 -4 8 -10 -8 0 3 13 3 -6 13 -5 -9 8 3 15 4 2 2 -4 3 -6 0 -5 -1 -1 15 -9 -9 -3
-9 -4 -8 0 0 0 0 5 -2 -1 5 15 11 -15 -2 4 -3 -2 2 3 0 8 9 -2 -8 0 -1 -3 -9 -15 4 7 -5 3 2 9 -1 -2
-8 0 0 -10 -7 0 0 -7 -9 -11 -1 -5 1 -5 -7 -1 -3 10 2 3 8 0 -7 -4 4 4 1 -10 1 9 7 -4 2 -10 -8 -5 -8
-4 7 -1 -1 -9 0 -9 0 14 0 -6 0 4 -6 2 5 8 -5 -2 -7 0 6 3 -2 -1 7 -18 -10 0 0 -6 -10 0 0 -9 6 -4 6
2 -2 0 0 2 13 -11 -5 -7 4 0 0 -5 -12 7 -9 9 8 -2 3 -1 -6 -3 -10 8 -5 0 0 0 -4 -7 24 3 -2 3 -2 0 1
-9 -8 -9 -3 -3 6 -8 -3 -10 0 -5 -9 -2 0 -3 0 3 9 0 -9 -4 0 -7 0 12 -1 0 6 -5 -1 -2 -3 -1 -2 0 2 9
-4 4 4 -2 0 4 0 -5 -5 -9 -8 4 0 10 0 12 0 -7 -3 6 0 -6 -2 4 -8 4 2 0 -3 -5 -10 7 -10 -4 -4 11 0 0
0 4 0 11 0 1 2 0 0 -4 0 3 -10 -9 1 6 -1 -6 6 -2 0 2 1 6 -1 3 -1 3 6 11 11 3 -1 -1 0 6 -8 0 0 -6 -9
0 0 4 -8 -10 3 0 0 5 7 7 -15 -8 4 7 0 0 7 -6 -10
"""
