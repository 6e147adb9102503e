# SPDX-License-Identifier: PostgreSQL
# The picture: rows that reach the join, time (also with the SQL unchanged and automatic join filters), and false positives,
# for both joins.
#
# Reads bars.csv (what bars.sql gives), writes picture.svg and picture.png.  From the command line: "arch", the architecture;
# "files", how many rows the index has; "libs" and "paths", how many keys each dimension has.

set datafile separator ','

bar(panel, series) = sprintf('< grep "^%s,[0-9]*,%s," bars.csv', panel, series)

title = "Two semi-joins over Debian's index of " . files . ' files, without and with a Bloom filter'
one = "join 1: files of the\n" . libs . " library packages"
two = "join 2: paths among\nthe " . paths . " of " . arch

grey = '#9aa0a6'
blue = '#1a5fb4'
green = '#2e9e5b'
amber = '#e5a50a'

do for [format in 'svg png'] {
	if (format eq 'svg') {
		set terminal svg size 1200,500 font 'DejaVu Sans,13' background 'white'
		keywidth = -5; keywidth3 = -2.3		# it takes letters for wider than they are, and would break the legends
	} else {
		set terminal pngcairo size 1200,500 font 'DejaVu Sans,10' background 'white'
		keywidth = -1; keywidth3 = -1
	}
	set output 'picture.' . format

	set multiplot
	set label 1 title at screen 0.5,0.955 center font ',17'
	set style fill solid 1 noborder
	set boxwidth 0.85
	set border 3 lc rgb '#606060'
	set tics nomirror out scale 0.5
	set xtics scale 0
	set ytics autofreq textcolor rgb '#404040'
	set grid ytics lc rgb '#e4e4e4' lt 1 lw 1
	set key at graph 0.5,1.1 center top horizontal maxrows 1 samplen 1 reverse Left width keywidth
	set tmargin at screen 0.77
	set bmargin at screen 0.14

	# yrange: from zero, with room for the labels above the bars
	set yrange [0:*]
	set offsets 0, 0, graph 0.05, 0

	set xrange [0.2:5.8]
	set xtics (one 1.5, two 4.5)

	set lmargin at screen 0.055
	set rmargin at screen 0.325
	set title 'Rows that reach the join (millions)' offset 0,1.6
	plot bar('rows', 'without') using 2:4 with boxes lc rgb grey title 'without', \
		bar('rows', 'with') using 2:4 with boxes lc rgb blue title 'with the filter', \
		bar('rows', '.*') using 2:4:5 with labels offset 0,0.8 notitle
	unset label 1

	set lmargin at screen 0.385
	set rmargin at screen 0.655
	set title 'Time (seconds, median)'
	set key width keywidth3
	set xrange [0.2:7.8]
	set xtics (one 2, two 6)
	plot bar('time', 'without') using 2:4 with boxes lc rgb grey title 'without', \
		bar('time', 'with') using 2:4 with boxes lc rgb blue title 'with it', \
		bar('time', 'automatic') using 2:4 with boxes lc rgb green title 'automatic', \
		bar('time', 'without') using 2:4:5 with labels offset 0,0.8 notitle, \
		bar('time', 'with') using 2:4:5 with labels offset 0,1.5 notitle, \
		bar('time', 'automatic') using 2:4:5 with labels offset 0,1.5 notitle

	set lmargin at screen 0.715
	set rmargin at screen 0.985
	set title 'False positives (%), predicted and measured'
	plot bar('fpr', 'predicted') using 2:4 with boxes lc rgb amber title 'predicted', \
		bar('fpr', 'keys') using 2:4 with boxes lc rgb blue title 'by key', \
		bar('fpr', 'rows') using 2:4 with boxes lc rgb '#7fb0e6' title 'by row', \
		bar('fpr', '.*') using 2:4:5 with labels offset 0,0.8 notitle

	unset multiplot
	set output
}
