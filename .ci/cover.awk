# Reads a coverage profile and prints the statement coverage of each floor that
# has a figure to meet. Ends with 1 if one is missed.
#
# A line is "<file>:<from>,<to> <statements> <count>". With -coverpkg a block
# comes once per test program; it is covered if one of them ran it.

NR > 1 {
	size[$1] = $2
	if ($3 > 0) ran[$1] = 1
}

END {
	for (block in size) {
		floor = block ~ /^placet\/engine\/enginetest\// ? "" : block ~ /^placet\/engine\// ? "engine" : block ~ /^placet\/cmd\// ? "cmd" : "ground"
		all[floor] += size[block]
		if (block in ran) covered[floor] += size[block]
	}
	need["engine"] = 90
	need["cmd"] = 70
	need["ground"] = 90
	split("ground engine cmd", order)
	for (i = 1; i in order; i++) {
		floor = order[i]
		if (!all[floor]) continue
		share = 100 * covered[floor] / all[floor]
		missed = share < need[floor]
		printf "%-7s %5.1f %% of %d statements, %d %% asked for%s\n", floor, share, all[floor], need[floor], missed ? ": not enough" : ""
		bad += missed
	}
	exit bad > 0
}
