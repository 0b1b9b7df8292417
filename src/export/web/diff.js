// SPDX-License-Identifier: Apache-2.0
// Flame graph of a diff. Widths are A + B, so that frames of only one side are visible. Node values: total is A + B, other is A.
// The static picture (flame_color.c) has the same colors.

const CHANGE = {more: [[246, 208, 194], [214, 88, 48]], less: [[200, 218, 242], [62, 122, 200]], same: [227, 228, 231]};
const UP = '\u25b2', DOWN = '\u25bc';

function readDiff(facts) {
	if (!facts.diff)
		return null;
	const [scale, seconds, limit, eachA, eachB, noiseA, noiseB, whole] = facts.diff.split(' ').map(Number);
	return {scale, seconds, limit, eachA, eachB, noiseA, noiseB, whole};
}

function sidesOf(total, other) {
	const g = view.graph, a = (g.each ? total / g.each : other) / g.diff.scale;
	return [a, total / g.diff.scale - a];
}

// Relative change from A to B, -1 (gone) to 1 (new); 0: not significant.
function changeOf(t, i) {
	const d = view.graph.diff, [a, b] = sidesOf(t.total[i], t.other[i]);
	const rest = d.whole ? Math.max(0, 1 - (a + b) / (2 * d.whole)) : 1;
	const noise = rest * (a * a * d.noiseA + b * b * d.noiseB);
	const [allA, allB] = sidesOf(t.total[0], t.other[0]), share = (a + b) / (allA + allB);
	const limit = Math.sqrt(Math.max(1.96 ** 2, d.limit ** 2 - 2 * Math.log(share / 0.01))); // as in diff_band()
	const band = limit * Math.sqrt(rest * (a * d.eachA + b * d.eachB + noise));
	return Math.abs(b - a) < band || Math.abs(b - a) < 1e-9 * a ? 0 : (b - a) / Math.max(a, b);
}

function changeColor(view, t, i) {
	const change = changeOf(t, i), [from, to] = change > 0 ? CHANGE.more : CHANGE.less;
	const color = change ? from.map((c, k) => c + Math.sqrt(Math.abs(change)) * (to[k] - c)) : CHANGE.same;
	return 'rgb(' + color.map(c => Math.round(view.dark ? c * 0.55 : c)).join(' ') + ')';
}

function changeGlyph(i) {
	const change = view.graph.diff ? changeOf(view.t, i) : 0;
	return change > 0 ? UP + ' ' : change < 0 ? DOWN + ' ' : '';
}

function changeText(i) {
	const g = view.graph, d = g.diff, t = view.t, [a, b] = sidesOf(t.total[i], t.other[i]);
	const part = x => valueText(d.seconds ? x / d.seconds : x, g.facts.unit) + (d.seconds ? ' per second' : '');
	const change = changeOf(t, i), percents = a && b ? ', ' + (b > a ? '+' : '') + (100 * (b - a) / a).toFixed(1) + ' %' : '';
	return 'A ' + part(a) + ' \u2192 B ' + part(b) + percents + (!change ? ', not significant' : !a ? ', new' : !b ? ', gone' : '');
}

function beginDiff(graph) {
	if (!graph.diff)
		return;
	COLORS.diff = changeColor;
	MEANING.diff = UP + ' red: more in B. ' + DOWN + ' blue: less in B. Grey: not significant. Widths are A and B together.';
}
