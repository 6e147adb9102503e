# The plots of docs/kinds.md, from the numbers of "bench series"; bench/core/plot calls this.
#
# From the command line: tsv, the numbers; by_size, by_probe and by_build, the kinds in the order of their lines; png, a folder for pictures
# besides, or nothing.

set datafile separator "\t"
set encoding utf8

# One colour and one mark a kind.  Kinds that take keys at any time are blue and green, those that are built at once red and yellow.
kinds   = 'standard partitioned blocked parquet counting counting_packed scalable scalable_grown cuckoo xor xor_plus binary_fuse ribbon'
colours = '#1a5fb4  #62a0ea     #0b2d5c #2aa1b3 #813d9c  #813d9c         #c061cb  #c061cb        #26a269 #e5a50a #b5835a #e66100    #c01c28'
marks   = '4        5           7       6       8        8               10       11             12     9   13       3           2'
dashes  = '1        1           1       1       1        2               1        2              1      1   1        1           1'

find(kind) = sum [i = 1:words(kinds)] (word(kinds, i) eq kind ? i : 0)
style(list, kind) = find(kind) > 0 ? word(list, find(kind)) : '1'
mark(kind) = int(style(marks, kind))
dash(kind) = int(style(dashes, kind))
colour(kind) = find(kind) > 0 ? word(colours, find(kind)) : '#000000'
title_of(kind) = kind eq 'scalable_grown' ? 'scalable, grown' : kind eq 'counting_packed' ? 'counting, packed' : kind
rows(table, kind) = sprintf("< awk -F '\\t' '$1 == \"%s\" && $2 == \"%s\"' %s", table, kind, tsv)

grey = '#606060'
set border 3 lc rgb grey
set tics nomirror out scale 0.6 textcolor rgb '#303030'
set grid xtics ytics lc rgb '#e4e4e4' lt 1 lw 1
set key outside right center vertical Left reverse noenhanced samplen 2 spacing 1.25 noopaque
set pointsize 0.7

do for [format in (png eq '' ? 'svg' : 'svg png')] {
	if (format eq 'svg') {
		set terminal svg size 960,560 font 'DejaVu Sans,14' background 'white'
		folder = 'docs'
	} else {
		set terminal pngcairo size 960,560 font 'DejaVu Sans,11' background 'white'
		folder = png
	}

	# ---- rates ----
	set output folder . '/kinds_fpr.' . format
	set title 'False positive rate, measured, of filters of so many bits per key (1,000,000 keys)'
	set xlabel 'bits per key, as stored'
	set ylabel 'false positive rate'
	set logscale y
	set xrange [0:48]
	set yrange [8e-6:0.4]
	set xtics 4
	set ytics ('30 %%' 0.3, '10 %%' 0.1, '3 %%' 0.03, '1 %%' 0.01, '0.3 %%' 0.003, '0.1 %%' 0.001, '0.03 %%' 3e-4, '0.01 %%' 1e-4, '0.003 %%' 3e-5, \
		'0.001 %%' 1e-5)
	plot for [k in by_size] rows('fpr', k) using 4:5 with linespoints lc rgb colour(k) pt mark(k) lw 1.5 title title_of(k), \
		2 ** -x with lines lc rgb 'black' lw 2 dt 2 title 'no filter can be left of this'

	# ---- time ----
	set logscale x
	set xrange [1000:1e7]
	set xtics ('1,000' 1e3, '10,000' 1e4, '100,000' 1e5, '1 million' 1e6, '10 million' 1e7)
	set xlabel 'keys in the filter (FPR 1 %)'
	set yrange [*:*]
	set ytics autofreq
	set ytics (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000)

	set output folder . '/kinds_probe.' . format
	set title 'Time to ask for a key that is not there, many keys at once'
	set ylabel 'ns per key'
	plot for [k in by_probe] rows('time', k) using 3:12 with linespoints lc rgb colour(k) pt mark(k) dt dash(k) lw 1.5 title title_of(k), \
		rows('time', 'blocked') using 3:11 with lines lc rgb 'black' lw 2 dt 2 title 'floor: one read per key'

	set output folder . '/kinds_build.' . format
	set title 'Time to build a filter, of hashes in no order'
	plot for [k in by_build] rows('time', k) using 3:($5 + $6) with linespoints lc rgb colour(k) pt mark(k) dt dash(k) lw 1.5 title title_of(k)
	set output
	unset logscale
}
