// SPDX-License-Identifier: Apache-2.0
// Flame graph: keys, pointer, start.

function widestChild(i) {
	const t = view.t;
	let best = -1;
	for (let c = i + 1; c < t.end[i]; c = t.end[c])
		if (best < 0 || t.total[c] > t.total[best])
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

const ACTIONS = {
	Escape: () => view.zoom ? zoomTo([]) : clearSearch(),
	0: () => zoomTo([]),
	Backspace: zoomBack,
	Enter: () => view.focus >= 0 && zoomTo(pathOf(view.focus)),
	'/': () => ui.search.select(),
	n: () => nextMatch(1),
	N: () => nextMatch(-1),
	i: () => setFlip(!view.flip),
	r: () => setReversed(!view.reversed),
	c: nextColor,
	d: () => setDark(!view.dark),
	y: copyName,
	'?': toggleHelp,
	ArrowDown: () => walkFocus(view.flip ? 'out' : 'in'),
	ArrowUp: () => walkFocus(view.flip ? 'in' : 'out'),
	ArrowLeft: () => walkFocus(-1),
	ArrowRight: () => walkFocus(1),
	PageDown: () => scrollBy(view.height - ROW),
	PageUp: () => scrollBy(ROW - view.height),
	Home: () => scrollBy(-1e9),
	End: () => scrollBy(1e9),
};

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
			ui.canvas.focus();
		if (e.key === 'Enter')
			nextMatch(e.shiftKey ? -1 : 1);
		return;
	}
	if (e.target.localName === 'button' && (e.key === 'Enter' || e.key === ' '))
		return;
	const act = Object.prototype.hasOwnProperty.call(ACTIONS, e.key) && ACTIONS[e.key];
	if (act) {
		e.preventDefault();
		act();
	}
}

function place(e) {
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
		const [x] = place(e);
		// The bar scrolls, and so does a finger anywhere.
		if (x >= view.width || e.pointerType === 'touch') {
			drag = {y: e.clientY, scroll: view.scroll, moved: false,
				scale: x >= view.width ? contentHeight() / view.height : -1};
			ui.canvas.setPointerCapture(e.pointerId);
		}
	});
	ui.canvas.addEventListener('pointermove', e => {
		if (!drag) {
			setHover(nodeAt(...place(e)));
			return;
		}
		drag.moved = drag.moved || Math.abs(e.clientY - drag.y) > 4;
		view.scroll = drag.scroll + (e.clientY - drag.y) * drag.scale;
		clampScroll();
		redraw();
	});
	ui.canvas.addEventListener('pointerleave', () => setHover(-1));
	ui.canvas.addEventListener('click', e => {
		const moved = drag && drag.moved, i = nodeAt(...place(e));
		drag = null;
		if (i >= 0 && !moved)
			zoomTo(pathOf(i));
	});
	ui.canvas.addEventListener('pointercancel', () => {
		drag = null;
	});
	ui.stage.addEventListener('wheel', e => {
		e.preventDefault();
		scrollBy(e.deltaMode === 1 ? e.deltaY * ROW : e.deltaY);
		setHover(nodeAt(...place(e)));
	}, {passive: false});
	ui.canvas.style.touchAction = 'none';
}

function start() {
	view.graph = readGraph(document.getElementById('flame').textContent);
	view.t = view.graph.top;
	buildPage(view.graph.facts);
	const scheme = window.matchMedia('(prefers-color-scheme: dark)');
	view.dark = scheme.matches;
	scheme.addEventListener('change', e => setDark(e.matches));
	onPointer();
	window.addEventListener('keydown', onKey);
	new ResizeObserver(resize).observe(ui.stage);
	window.addEventListener('popstate', e => {
		view.depth = e.state || 0;
		restore();
	});
	ui.search.addEventListener('input', () => setQuery(ui.search.value));
	view.depth = history.state || 0;
	paintTheme();
	measure();
	restore();
	draw();
}

// Inlined into some page the picture is right there, and the page's keys are not ours.
if (svg.namespaceURI === SVG && svg.localName === 'svg')
	start();
