// SPDX-License-Identifier: Apache-2.0
// Flame graph: keys, pointer, start.

function widestChild(i) {
	const t = view.t;
	let best = -1;
	for (let c = i + 1; c < t.end[i]; c = t.end[c])
		if (t.total[c] && (best < 0 || t.total[c] > t.total[best]))
			best = c;
	return best;
}

function sibling(i, step) {
	const t = view.t, p = t.parent[i];
	if (p < 0 || isAbove(i))
		return -1;
	let before = -1;
	for (let c = p + 1; c < t.end[p]; c = t.end[c]) {
		if (step < 0 && c === i)
			return before;
		if (!t.total[c])
			continue;
		if (step > 0 && before === i)
			return c;
		before = c;
	}
	return -1;
}

function walkFocus(move) {
	if (view.focus < 0) {
		setFocus(view.zoom);
		return;
	}
	if (move === 'in')
		setFocus(view.focus < view.zoom && isAbove(view.focus) ?
			ancestorAt(view.zoom, view.t.level[view.focus] + 1) : widestChild(view.focus));
	else if (move === 'out')
		setFocus(view.t.parent[view.focus]);
	else
		setFocus(sibling(view.focus, move));
}

function scrollBy(y) {
	view.scroll += y;
	clampScroll();
	redraw();
}

// Global keys, and keys of the flame graph.
const ACTIONS = {
	Escape: () => view.zoom ? zoomTo([]) : view.query ? clearSearch() : setStretch(null),
	0: () => zoomTo([]),
	Backspace: zoomBack,
	'/': () => ui.search.select(),
	r: () => setReversed(!view.reversed),
	f: () => setFold(!view.fold),
	X: showHidden,
	c: nextColor,
	d: () => setDark(!view.dark),
	e: () => setEvent((view.event + 1) % view.graphs.length),
	s: nextSpike,
	'[': () => shiftStretch(-1),
	']': () => shiftStretch(1),
	1: () => setTab('flame'),
	2: () => setTab('tree'),
	3: () => setTab('methods'),
	4: () => calls && setTab('latency'),
	a: toggleAbout,
	'?': toggleHelp,
};
const FLAME_ACTIONS = {
	Enter: () => view.focus >= 0 && zoomTo(pathOf(view.focus)),
	n: () => nextMatch(1),
	N: () => nextMatch(-1),
	i: () => setFlip(!view.flip),
	x: hideFrame,
	y: copyName,
	ArrowDown: () => walkFocus(view.flip ? 'out' : 'in'),
	ArrowUp: () => walkFocus(view.flip ? 'in' : 'out'),
	ArrowLeft: () => walkFocus(-1),
	ArrowRight: () => walkFocus(1),
	PageDown: () => scrollBy(view.height - ROW),
	PageUp: () => scrollBy(ROW - view.height),
	Home: () => scrollBy(-1e9),
	End: () => scrollBy(1e9),
};

function actionOf(key) {
	for (const actions of view.tab === 'flame' ? [FLAME_ACTIONS, ACTIONS] : [ACTIONS])
		if (Object.prototype.hasOwnProperty.call(actions, key))
			return actions[key];
	return null;
}

function clearSearch() {
	ui.search.value = '';
	setQuery('');
}

function onKey(e) {
	if (e.ctrlKey || e.metaKey || e.altKey)
		return;
	if (e.target === ui.search) {
		if (e.key === 'Escape')
			clearSearch();
		if (e.key === 'Escape' || e.key === 'Enter')
			ui.stage.firstElementChild.focus();
		if (e.key === 'Enter' && view.tab === 'flame')
			nextMatch(e.shiftKey ? -1 : 1);
		return;
	}
	if ((e.target.localName === 'button' && (e.key === 'Enter' || e.key === ' ')) || e.target.localName === 'select')
		return;
	if ((e.target === ui.heat && heatKey(e)) || (view.tab === 'tree' && treeKey(e))) {
		e.preventDefault();
		return;
	}
	const act = actionOf(e.key);
	if (act) {
		e.preventDefault();
		act();
	}
}

function pointAt(e) {
	const r = ui.canvas.getBoundingClientRect();
	return [e.clientX - r.left, e.clientY - r.top];
}

function setHover(i) {
	if (i === view.hover)
		return;
	view.hover = i;
	ui.canvas.style.cursor = i >= 0 ? 'pointer' : 'default';
	updateLine();
	redraw();
}

function onPointer() {
	let drag = null;
	ui.canvas.addEventListener('pointerdown', e => {
		const [x] = pointAt(e);
		// The scroll bar scrolls, as does touch anywhere.
		if (x >= view.width || e.pointerType === 'touch') {
			drag = {y: e.clientY, scroll: view.scroll, moved: false,
				scale: x >= view.width ? contentHeight() / view.height : -1};
			ui.canvas.setPointerCapture(e.pointerId);
		}
	});
	ui.canvas.addEventListener('pointermove', e => {
		if (!drag) {
			setHover(nodeAt(...pointAt(e)));
			return;
		}
		drag.moved = drag.moved || Math.abs(e.clientY - drag.y) > 4;
		view.scroll = drag.scroll + (e.clientY - drag.y) * drag.scale;
		clampScroll();
		redraw();
	});
	ui.canvas.addEventListener('pointerleave', () => setHover(-1));
	ui.canvas.addEventListener('click', e => {
		const moved = drag && drag.moved, i = nodeAt(...pointAt(e));
		drag = null;
		if (i >= 0 && !moved)
			zoomTo(pathOf(i));
	});
	ui.canvas.addEventListener('pointercancel', () => {
		drag = null;
	});
	ui.canvas.addEventListener('wheel', e => {
		e.preventDefault();
		scrollBy(e.deltaMode === 1 ? e.deltaY * ROW : e.deltaY);
		setHover(nodeAt(...pointAt(e)));
	}, {passive: false});
	ui.canvas.style.touchAction = 'none';
}

function readEvents() {
	view.texts = [...document.getElementsByClassName('flame')].map(e => e.textContent);
	view.graphs = view.texts.map(() => null);
}

function start() {
	readEvents();
	view.event = 0;
	const graph = graphOf(0);
	view.flip = graph.facts.inverted === '1';
	view.reversed = graph.facts.reversed === '1';
	beginDiff(graph);
	view.color = COLORS[graph.facts.colors] ? graph.facts.colors : 'type';
	view.begin = {flip: view.flip, reversed: view.reversed, color: view.color};
	buildPage(graph.facts);
	const scheme = window.matchMedia('(prefers-color-scheme: dark)');
	view.dark = scheme.matches;
	scheme.addEventListener('change', e => setDark(e.matches));
	onPointer();
	onHeatPointer();
	window.addEventListener('keydown', onKey);
	new ResizeObserver(resize).observe(ui.stage);
	window.addEventListener('popstate', e => {
		view.depth = e.state || 0;
		restore();
	});
	ui.search.addEventListener('input', () => setQuery(ui.search.value));
	view.depth = history.state || 0;
	restore();
	resize();
}

// If the file is inlined into another page, show the picture and leave its keys alone.
if ((isSvg && root.localName === 'svg') || document.getElementsByClassName('flame')[0].parentNode === document.body)
	start();
