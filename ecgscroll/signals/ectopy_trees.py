"""The trees of :mod:`ecgscroll.signals.ectopy`; written by benchmarks/fit_ectopy.py."""

BIAS = -1.88

# The feature of each question, four a tree.
ASKED = """
taller share width early unlike widening early unlike distance sharp sharp early unlike_best
discordant unlike_best sharper shape_width spread discordant unlike_best share discordant sharp
shape_pause unlike_best unlike_best larger pause unlike sharp shape_early sharp share sharper
spread taller unlike discordant share early_seg unlike_best discordant shape_early spread sharp
share pause sharp shape_width alike width steeper shape_width early_seg steeper share shape_early
unlike_worst shape_pause share discordant unlike_worst t_unlike pause shape_early unlike_worst
shape_spread distance sharp steeper larger discordant p_unlike pause_seg width steeper p_unlike
shape_early t_unlike taller sharper early_seg spread spreading sharp pause_seg both p_unlike
discordant unlike_best width steeper p_unlike p_distance shape_pause early_seg discordant
unlike_worst discordant spread discordant pause_seg unlike_best larger sharp t_unlike pause sharp
p_unlike discordant t_unlike distance sharp p_unlike p_distance shape_spread discordant distance
steeper width discordant shape_width alike shape_pause sharp sharp irregular taller sharper alike
spreading irregular sharp spread p_distance spread pause_seg t_unlike early_seg spread pause_seg
share p_distance share p_unlike spread share p_unlike sharp pause_seg taller unlike_best
unlike_worst t_unlike both irregular sharp t_unlike sharp shape_pause sharp shape_width alike
shape_width p_unlike steeper larger unlike_best discordant early_seg spread alike discordant share
taller shape_width spread p_distance shape_pause width sharp pause_seg sharp unlike_best
discordant irregular distance both early_seg p_distance share spread sharp alike early_seg pause
p_unlike shape_width taller share spread t_unlike steeper unlike sharp alike spread unlike_best
sharp shape_pause sharp shape_pause steeper sharp shape_early early unlike_worst p_distance
steeper sharper t_unlike sharp unlike_best larger both prev irregular irregular spread sharp
early_seg distance sharp irregular steeper early_seg discordant unlike_worst shape_pause
shape_early
"""

# In thousandths: is the feature above it?
THRESHOLDS = """
258 350 4913 -117 171 82 -239 1 397 -1544 -1027 -190 64 0 0 -167 39 2002 0 243 486 0 -1397 108 64
0 -261 133 171 -1066 -249 -1473 486 -167 2047 -301 171 299 398 -416 30 210 61 1827 -990 586 173
-1664 39 952 5338 -226 39 -226 -178 43 -13 988 -12 398 299 160 1820 71 -13 988 93 1411 -1027 212
1432 299 404 137 4852 -139 166 -98 1820 347 -84 -277 1926 42 -1027 137 139 130 210 30 5338 -178
166 30 -23 -46 210 311 -1564 1525 299 137 135 216 -853 1820 216 -1340 130 210 1820 729 -748 104 53
-1 -337 729 -86 5338 -434 39 918 -84 -748 -1189 359 258 -84 987 10 36 -748 1502 53 2098 137 1820
-9 1961 137 956 40 398 104 2098 586 1606 -1066 178 995 243 872 1820 -470 209 -748 1820 -1664 218
-748 -2 952 -1 104 -86 49 30 -434 -9 1961 994 -1889 586 -85 -2 1502 59 -84 5338 -748 137 -1806 30
-434 209 1195 -470 -9 59 398 1926 -1066 993 -277 -18 104 -2 -301 111 1502 1820 315 383 -853 969
1827 19 -1027 293 -1664 -17 -68 -853 -315 -334 988 420 -488 -257 1820 -1664 30 130 139 235 37 36
2098 -1473 -46 261 -668 169 -178 -277 -1339 988 -84 -25
"""

# Log odds in hundredths, sixteen a tree; first answer highest.
LEAVES = """
68 -12 131 68 -9 -16 54 -10 131 53 155 128 -7 -14 112 129 10 -2 -5 -16 4 13 62 -14 0 38 0 2 0 47 0
48 18 92 0 0 4 -13 -12 -16 32 33 0 0 36 38 26 -10 0 -7 -16 -15 29 47 20 -13 0 0 25 -8 0 0 32 30
-15 -15 -13 25 -5 -9 38 29 -6 23 28 28 -9 15 9 24 19 11 -9 13 27 22 18 25 25 -1 -15 0 27 0 -16 30
-5 0 26 13 -4 53 -14 -7 0 0 0 0 -7 17 14 21 1 12 25 -6 0 10 0 -15 18 21 18 19 0 16 0 -9 7 19 -14
17 11 4 -15 -5 0 15 0 14 52 -15 -1 30 10 -11 30 -15 6 25 -9 -9 9 1 -1 12 18 19 2 21 -15 -9 -14 -12
-14 17 44 -13 -1 8 -3 -12 19 17 14 10 16 12 4 16 28 -13 8 8 0 -12 0 14 0 -15 0 -10 8 8 8 -6 17 -14
-5 15 9 9 -7 -2 19 16 14 3 11 49 14 -13 -3 -13 5 -13 7 17 14 15 3 17 1 6 -4 -11 10 13 8 14 15 2 1
-13 -8 -15 0 49 11 3 -14 -12 -10 -7 -4 12 -24 -23 1 8 0 -26 14 16 3 6 0 -45 11 12 13 -21 11 15 -12
5 -13 4 20 -9 -3 9 1 14 16 15 4 14 -21 -21 -14 -9 4 2 6 14 -19 -10 -13 -15 2 -6 7 -11 13 -7 -4 -9
5 4 40 5 13 11 -18 -2 -4 -17 -13 2 -3 -17 8 15 -2 -7 -2 13 -7 -27 11 16 -16 3 -2 11 -6 8 0 15 -3
-5 -11 -12 20 -11 -10 7 -10 -6 -11 14 -9 -2 -15 -12 -4 -14 0 11 -6 -4 10 -15 -8 -10 6 -2 -10 -14
11 -5 -1 16 14 14 4 1 8 12 0 -14 -13 -14 -15 -13 0 97 12 14 1 -9 8 -3 -13 -14 -15 -11 -15 -12 -7 4
0 0 -13 8 0 0 -1 11 -13 -13 -10 7 8 0 4 4 5 -4 5 12 8 -9 13 15 12 -1 10 9 -16 -11 -19 -4 0 -15 0 9
0 -13 0 -14 -14 6 -2 -12 -11 -1 0 -13 -5 5 -8 -17 6 13 -3 -1 -11 -8 -15 -14 39 7 -3 4 -11 -14 -10
-12 -7 -10 -11 -16 1 -6 -15 -7 4 3 -7 -12 6 -8 -6 10 11 -3 11 -9 -11 -7 3 -13 -21 -7 12 -1 2 11 9
-6 -12 3 6 11 7 8 -2 -20 -5 11 2 -4 0 0 0 0 -16 0 0 -4 -4 5 4 -4 -6 -3 7 14 21 1 -6 -3 -14 -4 -11
2 -13 0 -12 0 11 15 2 -14 -13 0 -13 0 -12 0 -11 -17 1 -6 -8 3 -12 -12 -3 -16 13 5 -6 1 -3 -19 -5
-13 35 3 -3 -8 0 -14 0 -13 3 -1 5 5 0 -2 0 11 -10 0 -14 0 -4 0 5 0 4 5 -10 22 -11 -23 16 0 1 7 -10
8 5 12 -25 6 -11 -5 2 -12 7 3 3 -13 -10 0 -1 -5 -2 0 0 -12 -22 7 8 9 -3 -7 -9 -15 15 -1 -1 11 0
-23 -6 -4 0 0 -13 -2 0 0 -6 -6 3 0 -10 0 0 -3 30 5 -5 0 -12 0 0 -11 -6 -13 -10 -8 12 11 -13 -5 -11
-10 8 -6 3 9 1 -3 -12 4 1 -14 -7 6 -12 -11 -9 10 7 6 -8 7 -6 -1 -11 14 8 -6 -17 -9 0 -1 -1 -3 2 -2
-6 7 1 12 -13 -9 -4 0 -13 0 -5 0 -12 0 31 0 -1 15 2 -15 0 -5 16 3 -4 0 7 -14 -2 9 0 0 -13 -12 0 0
-6 -3 -20 -13 6 8 -3 7 -3 -13 -20 4 2 11 5 -2 0 -10 24 1 -13 13 6 -6 0 12 19 4 -14 14 -9 -7 -13 12
4 3 -9 -3 0 7 15 2 -4 8 -10 -3 -1 -6 -13 -12 0 -4 -1 -12 -2 -4 -9 -8 6 8 0 -13 -6 4 2 5 -14 -8 -2
3 0 0 0 -6 -2 4 19 6 2 -2 -19 -13 -12 7 -15 -4 -1 4 5 5 -5 8 -4 -13 -13 -9 -1 -5 1 13 5 -3 0 -13 0
6 0 0 -7 -5 0 0 0 8 5 9 13 1 -12 3 -6 -11 3 3 -14 -2 7 10 -11 -9 2 5 6 -3 -10 -9 -1 -2 6 1 9 8 -33
2 8 -12 16 6 -6 9 -1 -13 -4 8 0 -6 0 -15 -2 -12 -6 -3 -1 17 0 -1 4 2 0 7 2 6 0 -11 11 2 0 0 6 -2
12 5 -6 5 -4 -5 7 -1 11 2 0 -19 0 -13 -7 2 8 3 10 -1 -2 -13 -5 -3 -9 -13 -4 -2 0 -5 -7 8 -3 -14 -7
-4 -9 -1 -6 18 0 -5 1 -2 8 6
"""
