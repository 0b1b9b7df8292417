// SPDX-License-Identifier: Apache-2.0
// The interactive view in a flame-graph file (.svg, .html): parsing the data. This file comes first, so it has the constants.
//
// The files of this folder are joined into one function (src/export/local.mk), without indentation and comment lines.
// They parse the data, hide the static picture and draw on a canvas. Security: no network access, no markup built
// from names, no eval. Styles are set per property, so a policy against style elements has no effect. The
// end marker of a CDATA section must not occur.

'use strict';

const SVG = 'http://www.w3.org/2000/svg', HTML = 'http://www.w3.org/1999/xhtml';
const root = document.documentElement;
const isSvg = root.namespaceURI === SVG;
const ROW = 20, FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const BAR = 10;
const LEAST_SHARE = 1 / 4000;
const FRAME_ALL = 'L', FRAME_THREAD = 'K', FRAME_NARROW = 'P', JAVA = 'ABCDEIMNQ', CLASSES = 'IM', NATIVE = 'FGH';
const THEMES = {
	light: {ground: '#fbfbfa', panel: '#f1f2f4', line: '#dadde3', ink: '#20242b', faint: '#626a77',
		box: '#20242b', accent: '#2f5bd0', match: [322, 70, 64], dim: 0.28, field: '#ffffff', found: '#b0257f', bar: '#c9d7f5',
		heat: [[253, 245, 230], [248, 196, 120], [214, 84, 38], [112, 14, 36]]},
	dark: {ground: '#16181d', panel: '#1f2229', line: '#363b46', ink: '#e4e7ec', faint: '#9aa3b2',
		box: '#f2f4f7', accent: '#8fb0ff', match: [322, 62, 46], dim: 0.4, field: '#12141a', found: '#f08ccb', bar: '#2c3c63',
		heat: [[38, 38, 44], [112, 58, 30], [224, 122, 44], [255, 226, 168]]},
};

function readFacts(lines, graph) {
	let i = 1;
	for (; !lines[i].startsWith('names '); i++) {
		const at = lines[i].indexOf(' '), key = lines[i].slice(0, at), value = lines[i].slice(at + 1);
		if (key === 'type') {
			const f = value.split(' ');
			graph.types[f[0]] = {type: f.slice(1, 4).map(Number), name: f.slice(4).join(' ')};
		} else if (key === 'fact') {
			const equal = value.indexOf('=');
			graph.about.push([value.slice(0, equal), value.slice(equal + 1)]);
		} else if (key === 'safe') {
			const f = value.split(' ');
			graph.types[f[0]].safe = f.slice(1, 4).map(Number);
		} else {
			graph.facts[key] = value;
		}
	}
	return i;
}

function readNames(lines, i, graph) {
	const count = +lines[i].slice(6);
	let before = '';
	for (let k = 1; k <= count; k++) {
		const line = lines[i + k], at = line.indexOf(' ');
		before = before.slice(0, parseInt(line.slice(0, at), 36)) + line.slice(at + 1);
		graph.names.push(before);
	}
	return i + count + 1;
}

function newNodes(count) {
	return {count, level: new Uint16Array(count), name: new Uint32Array(count), type: new Uint8Array(count),
		total: new Float64Array(count), other: new Float64Array(count),
		matched: new Float64Array(count)};
}

// One pass over character codes. Grammar: svg_data.c.
function readNodes(text, count) {
	const t = newNodes(count);
	let at = 0, level = 0, total = 0, other = 0;
	function number() {
		let n = 0;
		for (;; at++) {
			const c = text.charCodeAt(at);
			if (c >= 48 && c <= 57)
				n = n * 36 + c - 48;
			else if (c >= 97 && c <= 122)
				n = n * 36 + c - 87;
			else
				return n;
		}
	}
	for (let i = 0; i < count; i++) {
		const move = text[at];
		if (move === '/') {
			at++;
		} else if (move === '^') {
			at++;
			level -= number();
		} else if (i) {
			level++;
		}
		t.level[i] = level;
		t.type[i] = text.charCodeAt(at++);
		t.name[i] = number();
		if (text[at] === '.') {
			at++;
			total = number();
		}
		if (text[at] === ':') {
			at++;
			other = number();
		}
		t.total[i] = total;
		t.other[i] = other;
	}
	return t;
}

// Derives from the order of nodes: ends of subtrees, parents, depth.
function link(t) {
	const n = t.count, open = [];
	t.end = new Uint32Array(n).fill(n);
	t.parent = new Int32Array(n).fill(-1);
	t.levels = 0;
	for (let i = 0; i < n; i++) {
		const level = t.level[i];
		while (open.length > level)
			t.end[open.pop()] = i;
		if (level)
			t.parent[i] = open[level - 1];
		open.push(i);
		if (level >= t.levels)
			t.levels = level + 1;
	}
	return t;
}

// Derives from totals: left edges, self values.
function finish(t) {
	const n = t.count, next = new Float64Array(n);
	t.start = new Float64Array(n);
	t.self = t.total.slice();
	t.selfOther = t.other.slice();
	for (let i = 1; i < n; i++) {
		const p = t.parent[i];
		t.start[i] = t.start[p] + next[p];
		next[p] += t.total[i];
		t.self[p] -= t.total[i];
		t.selfOther[p] -= t.other[i];
	}
	return t;
}

function readGraph(text) {
	const graph = {facts: {}, about: [], types: {}, names: []}, lines = text.split('\n');
	let i = readNames(lines, readFacts(lines, graph), graph);
	graph.each = +graph.facts.each;
	graph.diff = readDiff(graph.facts);
	graph.byValue = graph.facts.width === 'value';
	graph.base = finish(link(readNodes(lines[i + 1], +lines[i].slice(6))));
	graph.slices = (lines[i + 2] || '').startsWith('slices ') ? readSlices(lines[i + 2], lines[i + 3], graph) : null;
	readPulse(lines[i + 4] || '', lines[i + 5], graph);
	return graph;
}
