"""The trees of ectopy.py in numbers; written by benchmarks/fit_ectopy.py."""

BIAS = -2.18

# The feature of each question, four a tree.
ASKED = """
t_unlike width spread pause shape_width unlike sharper alike distance early distance pause_seg
shape_spread early widening alike distance discordant shape_spread distance shape_width sharp
sharp unlike_worst unlike_best sharp discordant sharp unlike_best unlike_best p_unlike distance
unlike sharp sharp pause distance shape_spread larger distance shape_width discordant pause_seg
unlike sharper shape_pause shape_pause sharper share sharper early steeper shape_width shape_pause
irregular t_unlike unlike early unlike shape_spread sharp share sharp taller share early_seg
sharper spreading sharper early spread alike unlike_best unlike_best pause distance shape_width
width irregular shape_pause discordant p_unlike sharper discordant discordant unlike_worst
t_unlike shape_pause discordant early_seg shape_spread larger early shape_spread t_unlike
shape_pause share steeper t_unlike share sharp shape_early sharp unlike_worst sharp early_seg
sharp unlike unlike_best unlike_best taller shape_width shape_early unlike_worst t_unlike taller
sharper unlike_best unlike_best taller p_unlike sharper early taller sharp pause_seg both sharp
pause_seg sharper t_unlike steeper width irregular irregular widening early_seg both shape_spread
early_seg discordant early_seg sharp unlike_best p_unlike width pause both p_unlike unlike_worst
alike pause share p_distance shape_early steeper shape_early shape_spread steeper shape_early
discordant spread t_unlike unlike_worst pause_seg sharper alike spreading sharp early pause sharp
discordant share spreading share discordant p_unlike discordant shape_early spread unlike_best
spread unlike_best discordant share spread unlike t_unlike taller p_distance irregular t_unlike
distance steeper steeper sharp alike pause_seg early_seg spread pause_seg irregular irregular
width unlike_worst pause_seg width t_unlike larger early_seg unlike width irregular next width
sharp t_unlike sharp shape_pause p_unlike spread share spread pause_seg both spreading pause_seg
p_unlike p_distance steeper unlike spread p_distance shape_pause spread p_unlike p_distance
early_seg shape_spread discordant steeper share unlike_worst unlike_worst p_distance share steeper
spread spread alike shape_spread t_unlike taller unlike taller sharp sharp irregular distance
unlike_worst second early_seg pause_seg sharp sharp irregular pause_seg width irregular steeper
width sharp sharp alike spread t_unlike steeper steeper width share alike shape_early alike
unlike_worst share unlike_best shape_pause p_unlike t_unlike early_seg spreading p_distance
unlike_worst distance pause p_unlike unlike_best taller taller sharp shape_width shape_width
taller p_distance unlike steeper widening pause_seg p_distance width steeper p_distance taller
share shape_width early_seg irregular irregular distance
"""

# In thousandths: is the feature above it?
THRESHOLDS = """
778 4883 1860 134 31 171 -110 978 399 -65 915 135 17 -189 117 951 399 0 17 915 31 -1655 -855 875
61 -1474 0 -1064 61 0 400 729 171 -1399 -946 134 399 17 -319 660 31 0 177 500 -110 67 -83 -249 398
-163 -238 -180 31 67 111 1817 171 -93 1 5 -1026 588 -1655 255 491 -80 -249 123 -110 -238 1860 993
30 0 71 729 31 5338 150 32 299 165 -163 -1560 207 161 1817 32 299 -137 396 838 -93 17 1817 -37 588
-228 1817 398 -1026 -247 -1341 875 -1026 -279 -1341 49 30 0 -324 94 -13 988 1817 255 -110 0 30
-324 326 -82 -380 -324 -1026 177 140 -1801 135 -110 1817 311 4754 170 150 39 -62 -48 396 -279 207
-279 -1148 30 165 4754 216 140 129 875 996 -65 588 29 -8 -141 -8 -1 -141 -315 111 1500 1817 229
135 -82 987 73 -1064 -238 216 -1655 207 398 123 352 47 103 -1887 -403 1500 0 2097 30 207 398 1958
26 1817 255 483 36 1817 729 311 -180 -1026 993 -24 -227 1500 135 170 150 4754 875 70 5236 1817 669
-46 1 4605 170 109 5338 -749 1817 -1655 217 103 2097 588 1958 135 140 155 -89 103 52 -141 203 1500
52 -83 1958 103 52 -227 -1 -325 -87 398 73 875 52 398 -109 1500 2097 983 51 1817 255 1 -38 -749
-1064 359 1186 988 0 -16 -63 -749 -1189 359 217 4605 170 -180 5236 -749 -1189 993 1826 1817 311
-69 5338 986 996 -315 818 988 956 303 -4 103 1817 -4 73 52 161 312 -47 103 0 255 980 -749 -2 -1
-176 52 305 -285 515 135 59 4754 -141 483 141 253 -2 -4 170 209 1286
"""

# Log odds in hundredths, sixteen a tree; first answer highest.
LEAVES = """
-11 0 4 21 -6 32 56 60 -1 54 9 51 68 101 74 95 -1 -8 -7 -10 35 -8 28 -6 8 43 -4 0 52 50 32 32 -10
7 0 0 -10 -4 0 0 22 36 39 33 -3 12 32 22 31 -4 34 21 14 -10 -1 -9 29 31 25 27 4 0 12 28 -10 0 -7 0
-8 0 33 0 -2 -7 -3 19 23 23 25 24 70 58 0 0 -9 13 -11 -4 18 20 0 0 19 22 -4 11 -5 0 36 0 -5 -10 -6
-10 16 0 19 0 15 -6 20 18 27 2 30 2 -10 -1 -5 6 0 0 0 0 3 9 10 17 24 5 0 0 -8 2 -10 -9 16 15 0 0
14 16 -7 16 30 0 -9 0 8 0 6 0 6 12 -4 10 4 -1 6 14 -10 -8 7 -7 -7 11 7 17 -6 7 4 11 15 15 14 15 12
12 14 0 0 0 13 14 0 0 0 -9 0 0 0 10 12 13 13 10 13 12 -2 0 12 9 12 -3 62 -9 -9 -10 -9 -5 0 -8 15
-4 3 -13 9 -1 8 -7 14 11 12 -1 4 9 -5 11 5 15 -9 -5 0 0 11 11 0 0 -4 3 17 7 10 12 35 0 -8 -1 0 0
-7 10 0 0 -10 -6 10 11 9 7 9 10 0 -9 2 12 -6 22 4 9 -10 -8 12 12 7 10 6 5 2 13 12 -6 3 11 -7 -10
-5 20 20 0 11 2 -9 -10 -6 -7 0 0 0 0 -5 7 8 10 -10 6 0 -4 21 7 -5 0 6 12 7 9 -9 11 -5 -2 -10 -10
-10 -10 -7 8 -9 -4 0 -4 0 -6 0 11 0 10 -10 -8 -6 -9 -1 7 -13 -16 -1 7 0 -10 11 11 -1 6 6 0 -17 6
-9 -9 -9 10 10 10 2 10 5 10 4 9 5 4 -2 -19 4 10 -6 5 0 -8 -8 -15 -4 4 -14 -6 6 12 -6 0 6 -7 -6 7 0
19 0 0 0 -9 0 -1 3 9 9 10 10 10 -3 9 0 0 7 7 0 0 -10 -6 -1 8 8 9 14 6 -6 4 0 0 -1 5 0 0 -10 -8 0 0
15 0 18 -5 -8 -11 0 0 0 0 3 -5 0 8 1 10 -6 -6 5 10 -2 -5 -8 6 -9 -7 7 8 -9 -11 0 9 0 0 5 -3 -7 8 0
14 0 0 14 -8 0 0 2 -4 0 -5 3 -6 0 -8 -14 9 3 6 12 3 -7 -2 12 4 1 -6 8 9 -21 3 0 -9 0 -10 0 8 0 -4
4 8 -4 -12 -6 9 -8 -12 9 9 4 -19 5 11 -6 -8 -10 -7 3 0 0 0 -2 0 2 6 83 7 0 0 -3 1 4 -4 -12 -4 9 4
6 6 0 -1 0 3 0 -5 0 4 -7 3 7 2 -8 2 -10 -9 -4 10 -8 9 11 9 -9 7 -10 -6 -3 0 -5 -5 -2 -7 -7 -9 10
-1 4 -8 8 -3 -7 -10 -3 -9 -2 3 -4 -2 -5 -2 16 2 1 7 4 5 11 12 2 43 4 3 2 -4 4 10 -4 -10 17 -6 3
-10 3 5 7 -8 3 5 6 3 0 3 0 1 0 2 0 -10 -10 -10 0 -7 -8 0 -9 -14 -9 -2 0 0 5 8 -10 1 1 -4 3 8 2 -8
-5 -5 5 3 -6 10 4 4 0 9 0 3 -5 8 13 3 -4 1 0 -2 0 7 0 -9 0 -6 -2 -8 -5 -3 0 -8 0 9 9 38 7 2 0 -3 0
1 0 -8 -2 -9 -7 -12 5 -4 0 0 -2 -8 0 0 7 6 -2 0 0 0 -10 -8 0 0 10 0 12 0 -3 4 -1 -11 -3 -1 -1 -7
-8 -1 2 10 22 8 9 -2 -10 -2 15 8 -5 1 -8 -11 11 6 6 7 1 -9 0 -6 3 -2 -3 -15 4 -4 0 15 4 4 0 7 -1
-8 0 -1 -7 1 0 -14 3 -6 4 -1 6 13 6 2 -6 -8 6 -5 -3 -10 -4 -9 -10 -4 0 -7 -5 -2 0 -3 0 17 0 -4 8 9
0 1 -10 0 -4 0 -3 0 9 0 0 2 1 -3 4 -11 7 5 9 1 8 -4 0 9 0 5 0 -6 0 -10 0 -8 0 -8 -9 0 -7 0 -1 0 1
0 0 6 11 1 1 -8 -2 -8 12 2 0 8 0 -19 -5 -2 0 0 -10 -3 0 0 -5 -5 -6 -9 -10 4 0 -2 0 3 4 -1 -6 13 0
-11 0 12 5 -3 -3 -2 -8 -6 -2 -6 0 2 0 9 0 -4 0 -1 4 -1 -7 -3 -8 -3 -10 -5 7 1 14 8 6 1 -7 1 -2 0
-9 0 -4 0 -9 0 30 0 1 13 3 -7 0 -2 -1 -2 -7 -6 -6 -9 -7 -9 -1 1 22 5 2 3 -5 -2 -5 -2 -4 10 -6 -9
-9 -9 11 2 -5 11 12 4 -5 -9 11 21 -3 -3 -1 -4 3 -9 2 8 0 -1 1 3 14 -8 -5 -1 -9 -1 0 0 0 0 1 0 -1 7
-5 -14 11 4 7 7 1 -4 0 0 0 7 0 0 -5 -6 0 0 0 -7 3 7 0 -14 -2 3 4 -7 0 0 0 0 -10 -1 0 0 -1 -1 2 -8
-3 3 0 11 1 6 -3 1 -5 3 0 -1 4 5 -11 -8 -3 5 -1 1 0 0 0 0 -10 -4 -1 1 -5 0 -9 0 10 0 -6 0 3 -6 2 6
7 -4 -3 -6 3 -2 4 9 5 -4 -6 3 0 0 0 0 -6 -9 -9 -1 3 -3 -4 5 0 0 8 0 0 -7 -1 -1 0 0 -8 -12 -5 6 -1
-2 0 2 0 3 0 0 0 -3 0 0 0 -9 1 -3 -5 7 -8 -9 0 0 4 7 -2 2 7 -1 0 0 -8 -3 -8 3 -4 -1 0 -1 3 2 1 -5
-11 -1 -6 -6 13 -2 -1 19 1 6 -1 5 -7 -7 -5 -3 2 6 -1 1 5 0 0 0 -8 0 -5 -4 7 0 -1 0 -1 0 5 -5 4 -5
0 0 -2 16 0 1 -4 -7 0 0 0 -3 -8 -8 2 0 5 0 0 0 5 0 5 5 -4 -7 3 -7 0 4 -3 -9 6 8 -4 -7 -1 -2 -1 0
-3 3 11 -3 4 1 2 -2 -6 2 1 5 -7 1 -10 -12 1 -6 -7 -1 0 9 1 7 0 0 -9 -2 3 -9 -1 5 0 0 -7 5 -7 -7
"""
