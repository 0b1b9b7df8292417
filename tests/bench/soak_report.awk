# SPDX-License-Identifier: Apache-2.0
# The rows of a soak as a table: awk -f soak_report.awk losses=FILE ROWS
#
# ROWS are fields between tabs: time, name, samples, broken %, kB of the JVM first and last, kB of jhot first and last, verdict. The
# file of losses has lines "reason count". A name's first kB are those of its first round, the last those of the last one; what
# "grew" is the most that was more at the end of a round than at its beginning.
BEGIN {
	FS = "\t"
	format = "%-28s %5s %11s %7s %9s %9s %9s %9s %9s %9s %7s %5s %5s %5s\n"
}

function kind(verdict) {
	if (verdict == "alive and right")
		return "right"
	if (verdict ~ /^THE JVM (CRASHED|DIED)/)
		return "crashed"
	if (verdict ~ /^THE JVM HUNG/)
		return "hung"
	return verdict ~ /^(jhot failed|DID NOT START)/ ? "failed" : "wrong"
}

function count(key) {
	runs[key]++
	samples[key] += $3
	broken[key] += $3 * $4 / 100
	of[key, kind($9)]++
	if (runs[key] == 1) {
		jvm_first[key] = $5
		own_first[key] = $7
	}
	jvm_last[key] = $6
	own_last[key] = $8
	if (runs[key] == 1 || $6 - $5 > jvm_grew[key])
		jvm_grew[key] = $6 - $5
	if (runs[key] == 1 || $8 - $7 > own_grew[key])
		own_grew[key] = $8 - $7
}

{
	if (!($2 in runs))
		names[++rows] = $2
	count($2)
	count("in all")
	if (kind($9) != "right")
		wrong = wrong sprintf("  %s  %s: %s\n", $1, $2, $9)
}

function line(key, whole) {
	printf format, key, runs[key], samples[key], samples[key] ? sprintf("%.3f", 100 * broken[key] / samples[key]) : "-",
		whole ? "" : jvm_first[key], whole ? "" : jvm_last[key], sprintf("%+d", jvm_grew[key]),
		whole ? "" : own_first[key], whole ? "" : own_last[key], sprintf("%+d", own_grew[key]),
		of[key, "crashed"] + 0, of[key, "hung"] + 0, of[key, "failed"] + 0, of[key, "wrong"] + 0
}

END {
	printf format, "program", "runs", "samples", "broken%", "JVM kB", "last", "grew", "jhot kB", "last", "grew", "crashed", "hung",
		"failed", "wrong"
	for (i = 1; i <= rows; i++)
		line(names[i], 0)
	line("in all", 1)

	FS = " "
	while ((getline text <losses) > 0)
		if (split(text, part, " ") == 2) {
			if (!(part[1] in lost))
				reasons[++reason] = part[1]
			lost[part[1]] += part[2]
			dropped += part[2]
		}
	printf "\nsamples lost, by reason: %d\n", dropped
	for (i = 1; i <= reason; i++)
		printf "  %-24s %d\n", reasons[i], lost[reasons[i]]
	printf "\nwhat went wrong:\n%s", wrong ? wrong : "  nothing\n"
}
