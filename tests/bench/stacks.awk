# SPDX-License-Identifier: Apache-2.0
# What collapsed stacks amount to, in one line: samples, mean depth, greatest depth, broken per cent.
#
# Broken is a stack with a frame that says so: [unknown...] or [break_...].

{
	n = $NF
	stack = substr($0, 1, length($0) - length(n) - 1)
	depth = gsub(/;/, ";", stack) + 1
	samples += n
	frames += n * depth
	if (depth > deepest)
		deepest = depth
	if (stack ~ /(^|;)\[(unknown|break_)/)
		broken += n
}

END {
	printf "%d %.1f %d %.3f\n", samples, samples ? frames / samples : 0, deepest,
		samples ? 100 * broken / samples : 0
}
