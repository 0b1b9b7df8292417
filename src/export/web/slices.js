// SPDX-License-Identifier: Apache-2.0
// Flame graph: samples over time. Grammar: svg_slices.c.

function sliceReader(text) {
	const value = new Uint8Array(128);
	let at = 0;
	for (const c of '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_')
		value[c.charCodeAt(0)] = at++;
	at = 0;
	return {
		next() {
			let n = 0, unit = 1;
			for (;;) {
				const digit = value[text.charCodeAt(at++)];
				n += (digit & 31) * unit;
				if (digit < 32)
					return n;
				unit *= 32;
			}
		},
		digits(count) {
			at += count;
			return Array.from({length: count}, (_, i) => value[text.charCodeAt(at - count + i)]);
		},
	};
}

// Entries of all slices in one array: those of slice i are [first[i], first[i + 1]).
function readSlices(head, text, graph) {
	const [, count, step, start] = head.split(' ').map(Number), number = sliceReader(text).next;
	const s = {count, step, start, from: new Float64Array(count), span: new Float64Array(count),
		first: new Uint32Array(count + 1)};
	const node = [], samples = [], weight = [];
	let end = 0;
	for (let i = 0; i < count; i++) {
		s.from[i] = end + number();
		s.span[i] = number();
		end = s.from[i] + s.span[i];
		let at = 0;
		for (let left = number(); left > 0; left--) {
			const step = number();
			at += Math.floor(step / 2);
			node.push(at);
			samples.push(step % 2 ? number() : 1);
			if (!graph.each)
				weight.push(number());
		}
		s.first[i + 1] = node.length;
	}
	s.begin = count ? s.from[0] : 0;
	s.end = end;
	s.node = Uint32Array.from(node);
	s.total = Float64Array.from(graph.byValue && !graph.each ? weight : samples);
	s.other = Float64Array.from(graph.byValue ? samples : weight);
	if (graph.byValue && graph.each)
		s.total.forEach((n, k) => (s.total[k] = n * graph.each));
	return s;
}

// The slices that overlap [from, to), as [first, end).
function slicesIn(s, from, to) {
	let first = 0;
	while (first < s.count && s.from[first] + s.span[first] <= from)
		first++;
	let last = first;
	while (last < s.count && s.from[last] < to)
		last++;
	return [first, last];
}

// Self value of each base node in these seconds.
function sumSlices(s, nodes, from, to) {
	const own = new Float64Array(nodes), other = new Float64Array(nodes), [first, last] = slicesIn(s, from, to);
	for (let k = s.first[first]; k < s.first[last]; k++) {
		own[s.node[k]] += s.total[k];
		if (s.other.length)
			other[s.node[k]] += s.other[k];
	}
	return [own, other];
}

// The sum of self values of marked nodes (marks null: of all nodes) per slice.
function sliceSums(s, marks) {
	const sums = new Float64Array(s.count);
	for (let i = 0; i < s.count; i++)
		for (let k = s.first[i]; k < s.first[i + 1]; k++)
			if (!marks || marks[s.node[k]])
				sums[i] += s.total[k];
	return sums;
}
