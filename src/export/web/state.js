// SPDX-License-Identifier: Apache-2.0
// Flame graph: the state of the view, and the URL fragment that stores it.

function graphOf(event) {
	view.graphs[event] = view.graphs[event] || readGraph(view.texts[event]);
	return view.graphs[event];
}

function pathOf(i) {
	const path = [];
	for (; view.t.level[i]; i = view.t.parent[i])
		path.unshift(view.graph.names[view.t.name[i]]);
	return path;
}

function nodeByPath(t, path) {
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

// --- the URL

function pathText(path) {
	return path.map(encodeURIComponent).join(';');
}

function stateText(path) {
	const parts = [], set = (key, value) => parts.push(key + '=' + value);
	if (view.event)
		set('e', encodeURIComponent(graphOf(view.event).facts.event));
	if (view.tab !== 'flame')
		set('v', view.tab);
	if (path.length)
		set('z', pathText(path));
	if (view.query)
		set('q', encodeURIComponent(view.query));
	if (view.stretch)
		set('t', view.stretch.join('-'));
	if (view.flip !== view.begin.flip)
		set('i', +view.flip);
	if (view.reversed !== view.begin.reversed)
		set('r', +view.reversed);
	if (view.fold)
		set('f', 1);
	if (view.color !== view.begin.color)
		set('c', view.color);
	for (const {path, reversed} of view.hidden)
		set(reversed ? 'hr' : 'h', pathText(path));
	return '#' + parts.join('&');
}

// Zooming adds an entry to the browser history; other changes replace the current one.
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
		// A sandbox may forbid it. The view works, but the URL does not change.
	}
}

function decode(text) {
	try {
		return decodeURIComponent(text);
	} catch (e) {
		return '';
	}
}

function readPath(text) {
	return (text || '').split(';').filter(Boolean).map(decode);
}

function readStretch(text) {
	const [from, to] = (text || '').split('-').map(Number);
	return view.graph.slices && from >= 0 && to > from ? [from, to] : null;
}

function readState() {
	const state = {};
	view.hidden = [];
	for (const part of location.hash.slice(1).split('&')) {
		const at = part.indexOf('='), key = part.slice(0, at), value = part.slice(at + 1);
		if (key === 'h' || key === 'hr')
			view.hidden.push({path: readPath(value), reversed: key === 'hr'});
		else if (at > 0)
			state[key] = value;
	}
	const event = state.e ? view.texts.findIndex((_, i) => graphOf(i).facts.event === decode(state.e)) : 0;
	view.event = Math.max(0, event);
	view.graph = graphOf(view.event);
	view.tab = Object.prototype.hasOwnProperty.call(TABS, state.v) ? state.v : 'flame';
	view.query = decode(state.q || '');
	view.stretch = readStretch(state.t);
	view.flip = state.i ? state.i === '1' : view.begin.flip;
	view.reversed = state.r ? state.r === '1' : view.begin.reversed;
	view.fold = state.f === '1';
	view.color = Object.prototype.hasOwnProperty.call(COLORS, state.c) ? state.c : view.begin.color;
	return readPath(state.z);
}

// --- showing

function orient(path) {
	view.t = view.reversed ? reverse(view.top, view.graph.names, view.hit, path) : view.top;
	view.zoom = nodeByPath(view.t, path);
}

// Recomputes everything that depends on path, query and switches.
function show(path) {
	orient(path);
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
	showLists();
	updateHeat();
	paintTheme();
	updateFound();
	updateLegend();
	updateLine();
	redraw();
}

// Also rebuilds the tree: after a change of event, time range, folding or hidden frames.
function showTree(path) {
	view.top = shapeTop();
	search();
	show(path);
}

function restore() {
	const path = readState();
	ui.search.value = view.query;
	view.colors.clear();
	view.fits.clear();
	placeTab();
	showEvent();
	showTree(path);
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
	const path = pathOf(view.zoom);
	view.query = query;
	search();
	keepState(path, false);
	if (view.reversed)
		orient(path);
	listMatches();
	updateFound();
	showLists();
	updateHeat();
	redraw();
}

// --- switches

function setFlip(flip) {
	const path = pathOf(view.zoom);
	view.flip = flip;
	keepState(path, false);
	show(path);
	say(flip ? 'flame: callers below' : 'icicle: callers above');
}

function setReversed(reversed) {
	view.reversed = reversed;
	keepState([], false);
	show([]);
	say(reversed ? 'reversed: leaves first' : 'callers first');
}

function setFold(fold) {
	const path = pathOf(view.zoom);
	view.fold = fold;
	showTree(path);
	keepState(pathOf(view.zoom), false);
	say(fold ? 'folded: entry frames, and native frames between others, are hidden' : 'all frames');
}

function setEvent(event) {
	if (event === view.event)
		return;
	view.event = event;
	view.graph = graphOf(event);
	view.hidden = [];
	view.stretch = view.graph.slices ? view.stretch : null;
	view.colors.clear();
	view.fits.clear();
	keepState([], false);
	showEvent();
	showTree([]);
	say(view.graph.facts.title);
}

function setTab(tab) {
	const path = pathOf(view.zoom);
	view.tab = tab;
	placeTab();
	keepState(path, false);
	measure();
	show(path);
	say(TABS[tab]);
}

function setStretch(stretch) {
	if (String(stretch) === String(view.stretch))
		return;
	const path = pathOf(view.zoom);
	view.stretch = stretch;
	showTree(path);
	keepState(path, false);
	say(ui.heatLine.textContent);
}

function hideFrame() {
	const i = view.focus >= 0 ? view.focus : view.hover;
	if (i <= 0)
		return;
	const name = view.graph.names[view.t.name[i]];
	view.hidden.push({path: pathOf(i), reversed: view.reversed});
	const path = pathOf(isAbove(i) ? view.t.parent[i] : view.zoom);
	showTree(path);
	keepState(path, false);
	say('hidden: ' + name);
}

function showHidden() {
	const path = pathOf(view.zoom);
	view.hidden = [];
	showTree(path);
	keepState(path, false);
	say('nothing is hidden');
}

function nextColor() {
	const modes = Object.keys(COLORS);
	view.color = modes[(modes.indexOf(view.color) + 1) % modes.length];
	view.colors.clear();
	keepState(pathOf(view.zoom), false);
	paintTheme();
	updateLegend();
	showLists();
	redraw();
}

function setDark(dark) {
	view.dark = dark;
	view.colors.clear();
	paintTheme();
	updateLegend();
	showLists();
	drawHeat();
	redraw();
}

function togglePanel(panel) {
	panel.style.display = panel.style.display === 'none' ? 'grid' : 'none';
	ui.more.setAttribute('aria-expanded', ui.about.style.display !== 'none');
	resize();
}

function toggleHelp() {
	togglePanel(ui.help);
}

function toggleAbout() {
	togglePanel(ui.about);
}

function setFocus(i) {
	if (i < 0)
		return;
	view.focus = i;
	view.hover = -1;
	showLevel(view.t.level[i]);
	updateLine();
	say(ui.name.textContent + ', ' + ui.line.textContent + ', level ' + view.t.level[i]);
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
