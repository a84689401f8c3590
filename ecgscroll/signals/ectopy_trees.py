"""The trees of ectopy.py in numbers; written by benchmarks/fit_ectopy.py."""

BIAS = -3.07

# The feature of each question, four a tree.
ASKED = """
t_unlike width spread pause shape_width distance alike sharper distance early share distance
widening shape_pause shape_spread early distance discordant shape_spread distance shape_width
sharp sharp unlike_worst unlike_best sharp discordant sharp unlike_best unlike_best p_unlike
p_unlike unlike sharp pause sharp distance shape_spread larger pause shape_width discordant
pause_seg unlike sharper shape_pause p_distance both share early steeper sharper shape_width
shape_pause distance t_unlike unlike early unlike shape_spread share sharp sharp taller share
early_seg sharper spreading sharper early spread alike unlike_best unlike_best pause distance
shape_width width distance shape_pause discordant p_unlike shape_pause p_distance discordant
unlike_worst t_unlike shape_pause discordant early_seg shape_spread larger early shape_spread
t_unlike shape_pause share steeper t_unlike pause sharp shape_early sharp unlike_worst sharp
early_seg sharp unlike shape_width unlike_best taller unlike_best shape_early unlike_worst
t_unlike taller sharper unlike_best unlike_best t_unlike p_unlike sharper early taller sharp
pause_seg both sharp sharper pause_seg t_unlike steeper width taller widening width early_seg both
shape_spread shape_spread discordant early_seg unlike_best sharp p_unlike width both pause
p_unlike unlike_worst alike irregular shape_early p_distance steeper p_distance shape_early
steeper early distance discordant unlike_worst spread unlike sharper pause_seg alike spreading
sharp early width unlike_best discordant share taller shape_width discordant p_unlike width unlike
spread shape_early steeper larger discordant share spread discordant t_unlike taller irregular
alike steeper unlike_best unlike_best p_distance sharp early_seg p_distance alike spread pause_seg
distance irregular width unlike_worst spreading pause_seg early_seg both t_unlike unlike width
irregular width unlike sharp shape_pause sharp t_unlike p_unlike width irregular shape_width prev
both pause_seg spreading p_unlike p_distance steeper irregular spread p_distance unlike spread
p_unlike p_distance early_seg p_distance discordant share unlike_worst steeper share p_distance
steeper unlike_worst spread alike spread shape_spread taller t_unlike unlike shape_spread sharp
early_seg sharp irregular early_seg both early_seg unlike_worst sharp irregular pause_seg
unlike_best width steeper irregular spreading sharp prev spread unlike_worst early_seg p_distance
width steeper share taller alike taller share shape_pause share shape_spread p_unlike t_unlike
both early_seg p_distance unlike_worst distance shape_spread p_unlike unlike_best unlike_worst
share sharp sharp spread shape_width p_distance second steeper unlike prev p_distance width
steeper share p_distance taller shape_width early_seg irregular larger shape_early
"""

# In thousandths: is the feature above it?
THRESHOLDS = """
725 4852 1879 146 109 720 946 -167 455 -74 382 720 143 100 22 -205 455 126 6 916 37 -1609 -849 204
50 -1371 49 -1067 50 0 350 1618 140 -1337 146 -944 455 22 1162 108 37 126 176 227 -115 32 166 241
481 -74 -186 -167 37 100 827 1841 140 -74 1 6 481 -990 -1609 247 481 -87 -115 131 -115 -205 1879
996 50 0 108 827 13 5278 301 32 316 270 100 774 585 751 1841 100 126 -238 22 1038 -74 22 1841 32
481 -237 1841 108 -990 -205 -1609 148 -990 -238 -1271 191 37 0 -160 50 -14 957 1841 146 -87 0 18
1841 270 -167 -385 -160 -990 176 241 -1609 -87 133 1841 226 4718 -301 474 5278 -66 -58 385 22 126
-396 50 -1337 270 4820 241 234 270 957 996 331 -14 583 226 34 -14 -186 -385 631 126 148 1879 21
-167 176 946 80 -1028 -295 5215 18 126 481 -160 561 126 104 5050 18 1481 -14 522 1038 316 481 1948
-375 1841 188 32 965 -140 50 0 774 -1067 -238 127 911 1481 133 1278 266 4605 957 -125 69 -66 -58
1841 1 4605 133 5278 247 -849 184 -1609 1554 104 4605 64 -56 306 150 133 -125 104 52 -186 168 1481
52 18 1821 130 52 -49 465 316 588 957 -108 588 59 -108 957 1481 986 2037 6 188 1841 1 -75 -745 239
-1271 168 -286 -58 -652 751 -990 233 222 90 4605 -186 133 -49 -745 306 1777 21 -286 52 4852 -300
588 -25 976 1002 481 -4 329 108 104 1841 -463 -652 52 148 374 6 104 0 65 329 -745 -1067 1981 6 52
0 -85 247 246 59 4852 -237 588 59 -25 561 -238 133 322 30
"""

# Log odds in hundredths, sixteen a tree; first answer highest.
LEAVES = """
-11 0 -5 13 -8 26 61 68 -5 36 17 39 64 104 75 90 4 8 9 -10 37 52 50 6 32 11 49 24 48 43 49 48 21 0
-7 0 1 0 -10 0 31 34 28 24 -1 25 2 19 -2 -10 26 1 32 7 31 21 25 -6 27 23 23 4 26 28 -10 0 -7 0 -8
0 27 0 11 -2 -1 20 31 23 24 24 64 36 0 0 -10 7 -11 -6 26 18 0 0 18 21 -11 1 -7 0 29 0 -6 -10 -8
-10 15 0 18 0 15 -5 20 19 28 0 27 26 -10 0 -6 27 0 0 0 0 3 0 15 12 20 0 9 0 -9 -10 3 -9 16 0 14 0
14 -7 15 17 -9 -5 0 0 5 15 0 0 9 16 -7 -19 6 14 16 15 -10 -7 3 14 -6 14 8 13 -8 4 2 8 18 16 14 14
2 -7 11 10 15 7 13 0 -9 -9 -2 -9 9 -5 9 0 13 13 13 9 13 -6 8 -3 11 55 -2 -9 -8 -10 -8 -10 -8 -8 7
-10 13 -7 9 -8 3 -11 13 5 13 -12 13 2 15 13 -5 10 3 22 -10 -3 0 0 10 11 0 0 2 1 18 6 9 12 0 0 -6 9
35 0 -6 -16 0 0 -10 -7 10 11 9 6 6 8 -2 -11 -14 14 -6 30 -8 -6 -10 -10 12 11 7 6 5 6 3 10 10 -2 2
10 -8 -10 -4 25 19 0 13 -2 -9 -13 -1 -9 0 0 0 0 -2 9 10 9 -10 -10 -4 7 23 -2 -1 11 2 5 6 10 15 14
-5 3 -10 -3 0 -14 -4 -2 6 -13 -5 -2 7 -6 11 10 11 -16 -9 6 -7 -18 6 10 -8 -11 8 11 -4 -4 12 11 7 9
10 -12 2 9 -10 -15 -8 4 7 -12 11 11 0 -19 10 11 1 7 -8 -18 6 10 -1 5 -7 -2 -10 -15 -3 8 -6 -2 3 11
1 2 3 8 -8 -5 4 29 0 0 -9 -7 0 -1 -8 0 1 9 18 10 -5 7 0 0 -4 6 0 0 -10 -9 4 9 9 8 10 6 -7 4 0 0 -4
5 0 0 -10 -7 -1 0 15 0 13 -1 -9 0 -1 0 10 0 -3 -1 1 7 2 9 -6 -7 6 9 1 -2 -8 1 -9 -13 8 1 -9 -6 10
0 0 0 -1 -13 8 -3 13 0 0 0 -9 -4 1 -10 1 -6 -2 -9 -2 -7 -1 -8 -16 8 7 7 14 3 -6 -2 11 2 1 -7 8 9
-14 0 0 -9 0 -7 0 6 0 -3 3 6 0 -3 10 8 3 -13 -6 9 -6 -11 3 8 -5 -5 12 0 0 0 -9 0 0 0 5 -6 -18 -13
1 10 9 -3 -1 4 0 -12 4 9 0 8 -4 -2 0 3 -6 -2 0 3 -9 12 5 -1 -10 -10 0 -7 -4 -4 8 10 12 -7 6 9 -10
3 -5 0 -3 -2 -6 -3 -4 6 -8 -1 4 9 -10 -5 -8 -10 -7 -11 6 -4 1 0 -3 6 5 5 5 1 8 -22 15 3 0 8 0 2 0
-15 -9 -5 33 4 0 1 0 -4 11 -2 4 6 -6 6 2 3 22 0 -4 3 -7 -5 -7 -4 -10 -8 2 -6 8 -1 0 -6 -9 7 13 -3
-4 9 11 3 2 -6 6 9 5 2 -9 10 5 -6 -4 -4 9 -1 -2 11 -4 8 -4 -4 -3 6 13 -2 -2 4 -2 -12 -10 -5 -4 -14
0 -17 -4 -4 11 0 -9 0 6 -9 7 9 4 0 -4 2 -10 -10 4 -7 -6 -1 5 -8 -9 -8 0 0 -9 6 13 6 -8 0 0 -5 -10
0 0 0 2 8 6 -16 -3 3 15 -8 -6 4 -5 -6 -7 -5 1 4 0 9 0 1 0 -11 0 14 5 -7 -2 2 6 12 0 7 0 0 -7 -3 -2
8 -8 -8 2 0 8 -1 0 0 2 4 11 -2 -6 -13 0 0 3 -10 4 1 -1 6 5 9 -4 -1 10 -2 -1 3 11 -9 -6 -8 -10 -1
-2 -3 -9 -1 0 0 -1 0 6 -10 6 4 5 -16 -6 -7 -10 -5 -1 0 -11 6 16 -2 -2 0 -10 -8 2 8 5 -1 0 -5 10 7
0 -5 8 -2 0 -9 7 -3 0 -6 -10 -10 0 0 2 -10 0 0 -4 6 11 -4 0 1 -12 -5 10 3 1 -4 7 -11 6 2 0 0 -10
-10 0 0 8 -9 0 -9 -2 -6 -2 -8 -3 -5 -9 -10 -6 -1 14 3 -6 0 6 -2 -7 5 -4 -8 0 -6 -8 7 -2 6 -4 -1 -6
8 0 1 -7 4 -9 -4 -9 -9 8 2 12 -3 -1 8 0 -4 -9 0 -7 0 -8 0 -8 0 -9 13 17 13 -6 1 3 -2 3 0 -7 0 -11
3 -8 -1 8 0 12 0 4 -4 -4 -1 -1 -5 -1 0 -4 -9 17 -9 8 3 7 8 -2 -1 0 -23 12 5 16 5 1 2 -3 3 -4 0 -3
-2 -3 16 -9 -16 -5 -4 0 0 -9 -7 0 0 1 0 15 -11 -4 5 11 8 0 8 5 -2 0 0 -4 -4 0 0 -1 5 0 0 -5 -4 5 0
-1 1 8 -4 -7 -10 0 0 -10 -7 0 0 11 -7 -4 -11 -3 6 12 3 4 9 0 0 -3 -2 0 0 -2 1 1 4 9 5 -5 3 -2 -1
-9 -5 1 6 -1 -3 0 -1 -1 -9 29 13 -8 -10 -6 -11 1 -1 -6 5 11 1 -7 -2 -10 5 7 -2 -3 3 5 6 -9 -9 0
-10 -1 -1 0 9 0 0 1 -1 14 -1 -4 4 -2 -8 -1 9 4 -5 2 -3 -1 0 -2 0 -1 -5 7 -4 6 0 1 0 -5 0 -8 0 -1
-3 13 -6 1 3 -6 5 0 0 0 -1 0 0 -9 5 -5 -1 -10 -6 0 0 -1 -5 -16 0 3 1 -6 -3 0 -4 -2 13 24 2 -3 11
13 -3 -7 -4 -3 -8 1 10 2 0 2 5 -2 -1 10 -9 -7 -5 5 9 1 0 4 -7 0 3 -2 5 7 -3 -2 1 -3 -10 0 0 0 0 -8
-9 13 -12 6 8 0 -2 3 0 20 2 3 1 -6 1 -7 -2 -6 5 -3 -8 4 7 8 -5 -1 -1 0 -1 1 10 7 4 4 2 6 0 12 -2 0
-13 0 5 -1 0 -3 0 3 0 -10 0 -4 -3 8 0 3 2 -1 22 -3 6 5 2 -6 -6 -4 -2
"""
