// SPDX-License-Identifier: Apache-2.0
// Flame graph: texts of the status lines, the legend and the search.

function amounts(total, other) {
	const g = view.graph, each = g.each;
	const count = g.byValue ? (each ? total / each : other) : total;
	const value = g.byValue ? total : (each ? total * each : other);
	return thousands(count) + (Math.round(count) === 1 ? ' sample' : ' samples') + ' \u00b7 ' +
		valueText(value, g.facts.unit);
}

function describe(i) {
	const t = view.t, g = view.graph;
	const parts = [g.diff ? changeText(i) : amounts(t.total[i], t.other[i]), percent(t.total[i], t.total[0]) + ' of all'];
	if (view.zoom)
		parts.push((isAbove(i) ? '100 %' : percent(t.total[i], t.total[view.zoom])) + ' of zoom');
	if (!view.reversed)
		parts.push('self ' + percent(t.self[i], t.total[0]));
	parts.push(view.graph.types[typeOf(i)].name);
	return parts.join(' \u00b7 ');
}

function updateLine() {
	const i = view.hover >= 0 ? view.hover : view.focus >= 0 ? view.focus : view.zoom;
	ui.name.textContent = view.graph.names[view.t.name[i]];
	ui.name.title = ui.name.textContent;
	ui.line.textContent = describe(i);
}

function say(text) {
	ui.live.textContent = text;
}

const MEANING = {self: 'Warm colors: a large part of the zoom is in the frame itself.',
	package: 'Frames of one package or library share a color.'};

function updateLegend() {
	const z = view.reversed ? 0 : view.zoom, top = view.top, sums = new Map();
	for (let i = z; i < top.end[z]; i++)
		if (top.self[i] > 0)
			sums.set(top.type[i], (sums.get(top.type[i]) || 0) + top.self[i]);
	ui.legend.replaceChildren();
	if (MEANING[view.color]) {
		ui.legend.append(MEANING[view.color]);
		return;
	}
	for (const [type, sum] of [...sums].sort((a, b) => b[1] - a[1])) {
		const c = view.graph.types[String.fromCharCode(type)];
		ui.legend.append(element('span', {whiteSpace: 'nowrap'}, {},
			swatch(shade(...(view.color === 'safe' ? c.safe : c.type), view.dark)),
			c.name + ' ' + percent(sum, top.total[z])));
	}
}

function compile(query) {
	const flags = /[A-Z]/.test(query.replace(/\\./g, '')) ? 'u' : 'iu';
	try {
		return new RegExp(query, flags);
	} catch (e) {
		return new RegExp(plain(query), flags);
	}
}

// hit: the node or an ancestor matches, so that nested matches count once.
function search() {
	view.nameHit = view.hit = null;
	if (!view.query)
		return;
	const re = compile(view.query), top = view.top;
	view.nameHit = Uint8Array.from(view.graph.names, name => re.test(name) ? 1 : 0);
	view.nameHit[top.name[0]] = 0;
	view.hit = new Uint8Array(top.count);
	for (let i = 1; i < top.count; i++)
		view.hit[i] = view.hit[top.parent[i]] | view.nameHit[top.name[i]];
}

function matchedIn(t, from) {
	if (view.reversed)
		return t.matched[from];
	let sum = 0;
	for (let i = from; i < t.end[from]; i++)
		if (view.hit[i])
			sum += t.self[i];
	return sum;
}

function listMatches() {
	const t = view.t, z = view.zoom, least = t.total[z] / view.width;
	view.matches = [];
	view.match = -1;
	for (let i = z; view.nameHit && i < t.end[z]; i++)
		if (view.nameHit[t.name[i]] && t.total[i] >= least)
			view.matches.push(i);
	view.matches.sort((a, b) => t.total[b] - t.total[a] || a - b);
}

function updateFound() {
	const t = view.t;
	if (!view.nameHit) {
		ui.found.textContent = '';
		return;
	}
	let text = 'matched ' + percent(matchedIn(t, 0), t.total[0]) + ' of all';
	if (view.zoom)
		text += ', ' + percent(matchedIn(t, view.zoom), t.total[view.zoom]) + ' of zoom';
	if (view.match >= 0)
		text += ' (' + (view.match + 1) + ' of ' + view.matches.length + ')';
	ui.found.textContent = text;
}

function nextMatch(step) {
	const n = view.matches.length;
	if (!n)
		return;
	view.match = view.match < 0 ? (step > 0 ? 0 : n - 1) : (view.match + step + n) % n;
	setFocus(view.matches[view.match]);
	updateFound();
}
