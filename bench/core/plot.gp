# SPDX-License-Identifier: PostgreSQL
# The plots of docs/kinds.md, from the numbers of "bench series"; bench/core/plot calls this.
#
# From the command line: tsv, the numbers; by_size, by_probe and by_build, the kinds in the order in which their lines end; png, a folder for
# pictures besides, or nothing.

set datafile separator "\t"

# One colour and one mark a kind: those that take keys at any time in blue, purple and green, those that are built at once in red and yellow.
# What is not here yet is black.
kinds   = 'standard partitioned blocked parquet counting counting_packed scalable scalable_grown cuckoo xor xor_plus binary_fuse ribbon'
colours = '#62a0ea  #1a5fb4     #0b2d5c #2aa1b3 #813d9c  #813d9c         #d16bc0  #d16bc0        #2e9e5b #e5a50a #a0703c #e66100    #c01c28'
marks   = '4        6           5       12      8        8               10       10             14     9   13       7           11'
dashes  = '1        1           1       1       1        2               1        2              1      1   1        1           1'

find(kind) = sum [i = 1:words(kinds)] (word(kinds, i) eq kind ? i : 0)
colour(kind) = find(kind) > 0 ? word(colours, find(kind)) : '#000000'
mark(kind) = find(kind) > 0 ? int(word(marks, find(kind))) : 1
dash(kind) = find(kind) > 0 ? int(word(dashes, find(kind))) : 1
title_of(kind) = kind eq 'scalable_grown' ? 'scalable, grown' : kind eq 'counting_packed' ? 'counting, packed' : kind

rows(table, kind) = sprintf("< awk -F '\\t' '$1 == \"%s\" && $2 == \"%s\"' %s", table, kind, tsv)

set border 3 lc rgb '#606060'
set tics nomirror out scale 0.6 textcolor rgb '#303030'
set grid xtics ytics lc rgb '#e4e4e4' lt 1 lw 1
set key vertical Left reverse noenhanced samplen 2.5 spacing 1.2 noopaque
set pointsize 0.6

do for [format in (png eq '' ? 'svg' : 'svg png')] {
	if (format eq 'svg') {
		set terminal svg size 1160,600 font 'DejaVu Sans,14' background 'white'
		folder = 'docs'
	} else {
		set terminal pngcairo size 1160,600 font 'DejaVu Sans,11' background 'white'
		folder = png
	}
	set tmargin at screen 0.9
	set bmargin at screen 0.12

	# ---- rates: what the bits buy, and what that is above the bound ----
	set output folder . '/kinds_fpr.' . format
	set multiplot
	set lmargin at screen 0.085
	set rmargin at screen 0.465
	set title 'False positive rate, measured (1,000,000 keys)'
	set logscale y
	set xrange [0:44]
	set xtics 4
	set yrange [8e-6:0.4]
	set ytics ('30 %%' 0.3, '10 %%' 0.1, '3 %%' 0.03, '1 %%' 0.01, '0.3 %%' 0.003, '0.1 %%' 0.001, '0.03 %%' 3e-4, '0.01 %%' 1e-4, \
		'0.003 %%' 3e-5, '0.001 %%' 1e-5)
	set xlabel 'bits per key, as stored'
	set ylabel 'false positive rate' offset 1,0
	plot for [k in by_size] rows('fpr', k) using 4:5 with linespoints lc rgb colour(k) pt mark(k) lw 1.5 notitle, \
		2 ** -x with lines lc rgb 'black' lw 2 dt 2 notitle

	unset logscale
	set lmargin at screen 0.56
	set rmargin at screen 0.835
	set key at screen 0.855, graph 0.9 left top
	set title 'Bits per key, as a multiple of the bound'
	set logscale x
	set xrange [0.4:8e-6]
	set xtics ('30 %%' 0.3, '' 0.1, '3 %%' 0.03, '' 0.01, '0.3 %%' 0.003, '' 0.001, '0.03 %%' 3e-4, '' 1e-4, '0.003 %%' 3e-5, '' 1e-5)
	set yrange [0.95:3]
	set ytics 0.2 format '%.1f'
	set xlabel 'false positive rate'
	set ylabel 'bits per key / log_2(1/FPR)' offset 0,0
	plot for [k in by_size] rows('fpr', k) using 5:($4 / -log($5) * log(2)) with linespoints lc rgb colour(k) pt mark(k) lw 1.5 title title_of(k), \
		1 with lines lc rgb 'black' lw 2 dt 2 title 'lower bound'
	unset multiplot
	unset logscale

	# ---- time ----
	set lmargin at screen 0.075
	set rmargin at screen 0.8
	set key at screen 0.82, graph 0.9 left top
	set logscale xy
	set xrange [1000:*]
	set xtics ('1,000' 1e3, '10,000' 1e4, '100,000' 1e5, '1 million' 1e6, '10 million' 1e7, '100 million' 1e8)
	set xlabel 'keys in the filter'
	set yrange [*:*]
	set ytics (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40, 50, 70, 100, 150, 200, 300, 400, 500, 700, 1000) format '%g'
	set ylabel 'ns per key'

	set output folder . '/kinds_probe.' . format
	set title 'Time to ask for a key that is not there, many at once (false positive rate 1 %)' noenhanced
	plot for [k in by_probe] rows('time', k) using 3:12 with linespoints lc rgb colour(k) pt mark(k) dt dash(k) lw 1.5 title title_of(k), \
		rows('time', 'blocked') using 3:11 with lines lc rgb 'black' lw 2 dt 2 title 'one random read'

	set output folder . '/kinds_build.' . format
	set title 'Time to build a filter from hashes in no order (false positive rate 1 %)' noenhanced
	plot for [k in by_build] rows('time', k) using 3:($5 + $6) with linespoints lc rgb colour(k) pt mark(k) dt dash(k) lw 1.5 title title_of(k)
	set output
	unset logscale
}
