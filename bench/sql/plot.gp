# SPDX-License-Identifier: PostgreSQL
# The plots of bench/sql; bench/sql/plot calls this.
#
# From the command line: plot_name, semijoin, segments, joins, shapes, skip, sizes or signature; tsv, the figures; png, a folder for a picture besides, or nothing.

set datafile separator "\t"
set border 3 lc rgb '#606060'
set tics nomirror out scale 0.6 textcolor rgb '#303030'
set grid xtics ytics lc rgb '#e4e4e4' lt 1 lw 1
set key vertical Left reverse noenhanced samplen 2.5 spacing 1.2 noopaque
set pointsize 0.8
set logscale xy
set lmargin at screen 0.09
set rmargin at screen 0.66
set tmargin at screen 0.9
set bmargin at screen 0.13
set key at screen 0.68, graph 0.95 left top

do for [format in (png eq '' ? 'svg' : 'svg png')] {
	height = plot_name eq 'joins' || plot_name eq 'skip' || plot_name eq 'signature' ? 720 : 520
	if (format eq 'svg') {
		set terminal svg size 1000,height font 'DejaVu Sans,14' background 'white'
		folder = 'docs'
	} else {
		set terminal pngcairo size 1000,height font 'DejaVu Sans,11' background 'white'
		folder = png
	}
	set output folder . '/sql_' . plot_name . '.' . format
	if (plot_name eq 'semijoin') {
		types   = 'bigint uuid text'
		colours = '#1a5fb4 #e66100 #2e9e5b'
		forms   = 'built stored spilling automatic'
		titles  = '"filter built in the query" "stored filter" "built, join spills (4 MB)" "automatic filter"'
		rows(type, form) = sprintf("< awk -F '\\t' '$1 == \"%s\" && $2 == \"%s\"' %s | sort -k 3,3g", type, form, tsv)
		set title 'Filter and hash semi-join, against the semi-join alone (1 million keys)' noenhanced
		set xlabel 'rows that match'
		set xrange [0.08:60]
		set xtics ('0.1 %%' 0.1, '1 %%' 1, '10 %%' 10, '50 %%' 50)
		set ylabel 'times faster'
		set yrange [0.8:*]
		set ytics (0.8, 1, 1.2, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20) format '%g'
		# the combinations that were measured: numbers of form and type
		pairs = system(sprintf("awk -F '\\t' 'BEGIN { split(\"%s\", f, \" \"); split(\"%s\", t, \" \") } { seen[$1, $2] = 1 } " . \
			"END { for (i = 1; i in f; i++) for (j = 1; j in t; j++) if ((t[j], f[i]) in seen) print i \",\" j }' %s", forms, types, tsv))
		f(pair) = int(pair[1:1])
		t(pair) = int(pair[3:3])
		plot for [p in pairs] rows(word(types, t(p)), word(forms, f(p))) using 3:4 with linespoints \
			lc rgb word(colours, t(p)) pt 4 + 2 * f(p) dt f(p) lw 1.5 title word(types, t(p)) . ', ' . word(titles, f(p)), \
			1 with lines lc rgb 'black' lw 1.5 dt 2 title 'the semi-join alone'
	}
	if (plot_name eq 'segments') {
		rows(against) = sprintf("< awk -F '\\t' '$4 == \"%s\"' %s | sort -g", against, tsv)
		set title 'One key against many stored filters: time for each' noenhanced
		set xlabel 'size of a filter'
		set xrange [12000:6e6]
		set xtics ('16 kB' 16384, '64 kB' 65536, '256 kB' 262144, '1 MB' 1048576, '4 MB' 4194304)
		set ylabel 'us per filter'
		set ytics (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000) format '%g'
		plot rows('fetching') using 1:3 with linespoints lc rgb '#c01c28' pt 8 lw 1.5 title 'fetching the value', \
			rows('slice') using 1:2 with linespoints lc rgb '#1a5fb4' pt 6 lw 1.5 title 'bloom_may_contain', \
			rows('slice') using 1:3 with linespoints lc rgb 'black' pt 4 dt 2 lw 1.5 title 'reading one slice of it'
	}
	if (plot_name eq 'sizes') {
		set title 'Random joins of facts and one dimension: rows expected, and rows that come' noenhanced
		set xlabel 'rows that come'
		set ylabel 'rows expected'
		set xrange [10:*]
		set yrange [10:*]
		set xtics (10, 100, 1000, 10000, 100000, 1000000) format '%g'
		set ytics (10, 100, 1000, 10000, 100000, 1000000) format '%g'
		plot tsv using 1:3 with points lc rgb '#e66100' pt 6 ps 0.4 title 'by the server', \
			tsv using 1:2 with points lc rgb '#1a5fb4' pt 7 ps 0.4 title 'with samples', \
			x with lines lc rgb 'black' lw 1.5 dt 2 title 'as many as come'
	}
	if (plot_name eq 'joins') {
		# the cases one below the other, from the top, with room between the scenarios
		bars(scenario) = sprintf("< awk -F '\\t' '$1 != last { at -= last == \"\" ? 1 : 2.2; last = $1; at++ } { at-- } $1 == \"%s\" { print at \"\\t\" $2 \"\\t\" $3 }' %s", scenario, tsv)
		set title 'Automatic join filters: times faster than the same SQL without' noenhanced
		set lmargin at screen 0.42
		set rmargin at screen 0.95
		set tmargin at screen 0.94
		set bmargin at screen 0.06
		unset logscale y
		unset key
		set xlabel
		set xrange [0.7:14]
		set xtics (0.8, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 12) format '%g'
		set yrange [*:0]
		set style fill solid 0.85 noborder
		unset ytics
		set ytics scale 0 noenhanced font ',11'
		plot bars('joins') using 3:1:(1):3:($1 - 0.36):($1 + 0.36):ytic(2) with boxxyerror lc rgb '#1a5fb4', \
			bars('ssb') using 3:1:(1):3:($1 - 0.36):($1 + 0.36):ytic('SSB '.strcol(2)) with boxxyerror lc rgb '#2e9e5b', \
			bars('tpch') using 3:1:(1):3:($1 - 0.36):($1 + 0.36):ytic('TPC-H '.strcol(2)) with boxxyerror lc rgb '#e66100', \
			for [s in 'joins ssb tpch'] bars(s) using 3:1:(sprintf('%.2g', $3)) with labels left offset 0.5 font ',10'
	}
	if (plot_name eq 'skip') {
		bars(scenario) = sprintf("< awk -F '\\t' '$1 != last { at -= last == \"\" ? 1 : 2.2; last = $1; at++ } { at-- } $1 == \"%s\" { print at \"\\t\" $2 \"\\t\" $3 \"\\t\" $4 }' %s", scenario, tsv)
		set title 'Partitions and pages that joins do not read: times faster than the same SQL without filters' noenhanced
		set lmargin at screen 0.33
		set rmargin at screen 0.95
		set tmargin at screen 0.94
		set bmargin at screen 0.06
		unset logscale y
		set key at graph 0.99, graph 0.56 right top
		set xlabel
		set xrange [0.8:250]
		set xtics (1, 2, 3, 5, 10, 20, 30, 50, 100, 200) format '%g'
		set yrange [*:0]
		set style fill solid 0.85 noborder
		unset ytics
		set ytics scale 0 noenhanced font ',11'
		plot for [s in 'skip pages years brin'] bars(s) using 3:1:(0.8):3:($1 - 0.36):($1 + 0.36):ytic(2) with boxxyerror \
				lc rgb '#1a5fb4' title s eq 'skip' ? 'filters that read less' : '', \
			for [s in 'skip pages years brin'] bars(s) using 4:1:(0.8):4:($1 - 0.36):($1 + 0.36) with boxxyerror \
				lc rgb '#99c1f1' title s eq 'skip' ? 'filters that skip nothing' : '', \
			for [s in 'skip pages years brin'] bars(s) using 3:1:(sprintf($3 < 99.5 ? '%.2g' : '%.0f', $3)) with labels left offset 0.5 font ',10' notitle
	}
	if (plot_name eq 'signature') {
		bars(beside) = sprintf("< awk -F '\\t' '$1 != last { at -= last == \"\" ? 1 : 2.2; last = $1; at++ } { at-- } $1 == \"%s\" { print at \"\\t\" $2 \"\\t\" $3 }' %s", beside, tsv)
		set title 'An index signature: times smaller and faster' noenhanced
		set lmargin at screen 0.24
		set rmargin at screen 0.95
		set tmargin at screen 0.94
		set bmargin at screen 0.06
		unset logscale y
		set key at graph 0.99, graph 0.97 right top
		set xlabel
		set xrange [1:9000]
		set xtics (1, 3, 10, 30, 100, 300, 1000, 3000) format '%g'
		set yrange [*:0]
		set style fill solid 0.85 noborder
		unset ytics
		set ytics scale 0 noenhanced font ',11'
		plot bars('gin') using 3:1:(1):3:($1 - 0.36):($1 + 0.36):ytic(2) with boxxyerror lc rgb '#2e9e5b' title 'than GIN', \
			bars('scan') using 3:1:(1):3:($1 - 0.36):($1 + 0.36):ytic(2) with boxxyerror lc rgb '#1a5fb4' title 'than a sequential scan', \
			for [s in 'gin scan'] bars(s) using 3:1:(sprintf($3 < 99.5 ? '%.2g' : '%.0f', $3)) with labels left offset 0.5 font ',10' notitle
	}
	if (plot_name eq 'shapes') {
		set title 'The same question in other words: times faster than the same SQL without filters' noenhanced
		set lmargin at screen 0.3
		set rmargin at screen 0.95
		set tmargin at screen 0.92
		set bmargin at screen 0.08
		unset logscale y
		unset key
		set xlabel
		set xrange [0.8:100]
		set xtics (1, 2, 3, 5, 10, 20, 30, 50, 100) format '%g'
		set yrange [*:0]
		set style fill solid 0.85 noborder
		unset ytics
		set ytics scale 0 noenhanced font ',11'
		plot tsv using 2:(-$0 - 1):(0.8):2:(-$0 - 1.36):(-$0 - 0.64):ytic(1) with boxxyerror lc rgb '#1a5fb4', \
			tsv using 2:(-$0 - 1):(sprintf('%.2g', $2)) with labels left offset 0.5 font ',10'
	}
	set output
}
