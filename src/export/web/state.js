// SPDX-License-Identifier: Apache-2.0
// Flame graph: zoom, switches, and the address that keeps them.

function pathOf(i) {
	const path = [];
	for (; view.t.level[i]; i = view.t.parent[i])
		path.unshift(view.graph.names[view.t.name[i]]);
	return path;
}

function nodeByPath(path) {
	const t = view.t;
	let i = 0;
	for (const name of path) {
		let c = i + 1;
		while (c < t.end[i] && view.graph.names[t.name[c]] !== name)
			c = t.end[c];
		if (c >= t.end[i])
			break;
		i = c;
	}
	return i;
}

function stateText(path) {
	const parts = [];
	if (path.length)
		parts.push('z=' + path.map(encodeURIComponent).join(';'));
	if (view.query)
		parts.push('q=' + encodeURIComponent(view.query));
	if (view.flip)
		parts.push('i=1');
	if (view.reversed)
		parts.push('r=1');
	if (view.color !== 'type')
		parts.push('c=' + view.color);
	return '#' + parts.join('&');
}

// Zooms are steps of the browser's history; everything else changes the step it is in.
function keepState(path, step) {
	const text = stateText(path);
	if (text === (location.hash || '#'))
		return;
	try {
		if (step) {
			view.depth++;
			history.pushState(view.depth, '', text);
		} else {
			history.replaceState(view.depth, '', text);
		}
	} catch (e) {
		// A sandbox without history: the view works, the address stays.
	}
}

function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch (e) {
		return '';
	}
}

function readState() {
	const state = {};
	for (const part of location.hash.slice(1).split('&')) {
		const at = part.indexOf('=');
		if (at > 0)
			state[part.slice(0, at)] = part.slice(at + 1);
	}
	view.query = decode(state.q || '');
	view.flip = state.i === '1';
	view.reversed = state.r === '1';
	view.color = COLORS[state.c] ? state.c : 'type';
	return (state.z || '').split(';').filter(Boolean).map(decode);
}

// Everything that depends on the path, the query and the switches, from scratch.
function show(path) {
	view.t = view.reversed ? reverse(view.graph.top, view.graph.names, view.hit, path) : view.graph.top;
	view.zoom = nodeByPath(path);
	view.hover = view.focus = -1;
	listMatches();
	clampScroll();
	if (view.zoom) {
		const y = levelY(view.t.level[view.zoom]);
		view.scroll += view.flip ? y - (view.height - 4 * ROW) : y - 3 * ROW;
		clampScroll();
	} else {
		view.scroll = view.flip ? contentHeight() : 0;
		clampScroll();
	}
	paintTheme();
	updateFound();
	updateLegend();
	updateLine();
	redraw();
}

function restore() {
	const path = readState();
	ui.search.value = view.query;
	view.colors.clear();
	search();
	show(path);
}

function zoomTo(path) {
	if (path.join('\n') === pathOf(view.zoom).join('\n'))
		return;
	keepState(path, true);
	show(path);
	say(path.length ? 'zoomed into ' + ui.name.textContent + ', ' + ui.line.textContent : 'zoom reset');
}

function zoomBack() {
	if (view.depth > 0)
		history.back();
	else
		zoomTo([]);
}

function setQuery(query) {
	view.query = query;
	search();
	keepState(pathOf(view.zoom), false);
	if (view.reversed)
		view.t = reverse(view.graph.top, view.graph.names, view.hit, pathOf(view.zoom));
	listMatches();
	updateFound();
	redraw();
}

function setFlip(flip) {
	const path = pathOf(view.zoom);
	view.flip = flip;
	keepState(path, false);
	show(path);
	say(flip ? 'flame: callers below' : 'icicle: callers above');
}

function setReversed(reversed) {
	view.reversed = reversed;
	view.t = view.graph.top;
	view.zoom = 0;
	keepState([], false);
	show([]);
	say(reversed ? 'reversed: leaves first' : 'callers first');
}

function nextColor() {
	const modes = Object.keys(COLORS);
	view.color = modes[(modes.indexOf(view.color) + 1) % modes.length];
	view.colors.clear();
	keepState(pathOf(view.zoom), false);
	paintTheme();
	updateLegend();
	redraw();
}

function setDark(dark) {
	view.dark = dark;
	view.colors.clear();
	paintTheme();
	updateLegend();
	redraw();
}

function toggleHelp() {
	ui.help.style.display = ui.help.style.display === 'none' ? 'flex' : 'none';
	resize();
}

function setFocus(i) {
	if (i < 0)
		return;
	view.focus = i;
	view.hover = -1;
	showLevel(view.t.level[i]);
	updateLine();
	say(ui.name.textContent + ', ' + ui.line.textContent);
	redraw();
}

function copyName() {
	const text = ui.name.textContent, done = () => say('copied ' + text);
	if (navigator.clipboard && window.isSecureContext) {
		navigator.clipboard.writeText(text).then(done, () => say('copying is not allowed here'));
		return;
	}
	const range = document.createRange(), selection = window.getSelection();
	range.selectNodeContents(ui.name);
	selection.removeAllRanges();
	selection.addRange(range);
	if (document.execCommand('copy'))
		done();
}
