// SPDX-License-Identifier: Apache-2.0
// Flame graph: the elements around the canvas, and their colors.

function element(tag, style, attributes, ...children) {
	const e = document.createElementNS(HTML, tag);
	Object.assign(e.style, style);
	for (const key of Object.keys(attributes || {}))
		e.setAttribute(key, attributes[key]);
	e.append(...children);
	return e;
}

const KEYS = [['click, Enter', 'zoom in'], ['Esc, 0', 'reset the zoom'], ['Backspace', 'zoom back'],
	['/', 'search (regular expression)'], ['n  N', 'next, previous match, widest first'],
	['i', 'flip: icicle or flame'], ['r', 'reverse: callers of the leaves'],
	['f', 'fold entry and native frames'], ['x  X', 'hide the frame, show all again'],
	['c', 'color: type, package, self, safe'], ['d', 'dark or light'], ['y', 'copy the name'],
	['arrows', 'move between frames'], ['PgUp PgDn', 'scroll'], ['1 2 3', 'graph, tree, methods'],
	['e', 'next event'], ['a', 'about this recording'], ['s', 'next spike'], ['[  ]', 'earlier, later time range'], ['?', 'this help']];
const TABS = {flame: 'Flame graph', tree: 'Call tree', methods: 'Hot methods'};
// Measured calls: a section of the static page, null: none. It is shown as a tab.
const calls = document.getElementById('latency');
if (calls) {
	TABS.latency = 'Latency';
	KEYS.push(['4', 'latency of the measured calls']);
}

// State of the page. graph: data of the current event; top: its visible tree; t: top, or its reversed tree; zoom, hover, focus: nodes
// of t; stretch: the selected time range [from, to) in seconds, null: all.
const view = {graph: null, texts: [], graphs: [], event: 0, top: null, t: null, to: null, zoom: 0, hover: -1, focus: -1,
	scroll: 0, flip: false, reversed: false, fold: false, hidden: [], hiddenSum: 0, stretch: null, tab: 'flame',
	color: 'type', begin: null, dark: false, query: '', hit: null, nameHit: null, matches: [], match: -1, depth: 0,
	width: 0, height: 0, fits: new Map(), colors: new Map()};
const ui = {tabs: {}};

function swatch(color) {
	return element('span', {display: 'inline-block', width: '11px', height: '11px', borderRadius: '2px',
		marginRight: '5px', verticalAlign: '-1px', background: color, flex: 'none'});
}

function button(label, title, act) {
	const b = element('button', {font: 'inherit', padding: '4px 10px', borderRadius: '6px', cursor: 'pointer',
		borderStyle: 'solid', borderWidth: '1px', whiteSpace: 'nowrap'}, {type: 'button', title}, label);
	b.addEventListener('click', () => {
		act();
		ui.canvas.focus();
	});
	return b;
}

function buildEvents() {
	ui.events = element('select', {font: 'inherit', padding: '4px 6px', borderRadius: '6px', borderStyle: 'solid',
		borderWidth: '1px', display: view.texts.length > 1 ? 'inline-block' : 'none'},
	{'aria-label': 'event', title: 'e: event'});
	view.texts.forEach((text, i) => {
		const event = /^event (.*)$/m.exec(text);
		ui.events.append(element('option', {}, {value: i}, event ? event[1] : 'event ' + i));
	});
	ui.events.addEventListener('change', () => setEvent(+ui.events.value));
}

function buildHeader() {
	ui.title = element('div', {fontSize: '16px', fontWeight: '600', overflowWrap: 'anywhere'}, {id: 'title'});
	ui.facts = element('span', {overflowWrap: 'anywhere', whiteSpace: 'normal'}, {id: 'facts'});
	ui.more = element('button', {font: 'inherit', padding: '0 4px', border: '0', background: 'none', cursor: 'pointer',
		textDecoration: 'underline', color: 'inherit'},
	{type: 'button', id: 'more', title: 'a: about this recording', 'aria-controls': 'about'}, 'more');
	ui.more.addEventListener('click', toggleAbout);
	ui.under = element('div', {fontSize: '12px', marginTop: '2px'}, {}, ui.facts, ' ', ui.more);
	ui.search = element('input', {font: 'inherit', padding: '4px 8px', borderRadius: '6px', width: '13em',
		borderStyle: 'solid', borderWidth: '1px', outlineOffset: '1px'},
	{type: 'search', placeholder: 'Search  ( / )', 'aria-label': 'search by regular expression',
		spellcheck: 'false', autocomplete: 'off'});
	buildEvents();
	ui.reset = button('Reset zoom', 'Esc or 0', () => zoomTo([]));
	ui.shown = button('', 'X: show hidden frames', showHidden);
	ui.flip = button('Flip', 'i: icicle or flame', () => setFlip(!view.flip));
	ui.reverse = button('Reverse', 'r: leaves first, then their callers', () => setReversed(!view.reversed));
	ui.fold = button('Fold', 'f: fold entry frames, and native frames between others', () => setFold(!view.fold));
	ui.color = button('', 'c: color by type, package or self; safe: by type, for red-green color blindness', nextColor);
	ui.theme = button('', 'd: dark or light', () => setDark(!view.dark));
	ui.helpButton = button('?', '?: keys', toggleHelp);
	const tools = element('div', {display: 'flex', flexWrap: 'wrap', gap: '6px', alignItems: 'center'}, {},
		ui.events, ui.reset, ui.shown, ui.search, ui.flip, ui.reverse, ui.fold, ui.color, ui.theme, ui.helpButton);
	return element('div', {display: 'flex', flexWrap: 'wrap', gap: '6px 16px', padding: '10px 14px',
		justifyContent: 'space-between', alignItems: 'center', flex: 'none'}, {},
	element('div', {flex: '1 1 320px', minWidth: '0'}, {}, ui.title, ui.under), tools);
}

// A panel below the header, hidden initially: pairs of texts.
function buildPanel(id, pairs) {
	return element('div', {display: 'none', gridTemplateColumns: 'repeat(auto-fill, minmax(20em, 1fr))', gap: '4px 24px', padding: '8px 14px 12px',
		flex: 'none', maxHeight: '40%', overflow: 'auto'}, {id}, ...panelRows(pairs));
}

function panelRows(pairs) {
	return pairs.map(([key, what]) => element('div', {overflowWrap: 'anywhere'}, {},
		element('span', {display: 'inline-block', minWidth: '7em', fontWeight: '600'}, {}, key), ' ', what));
}

function buildTabs() {
	const bar = element('div', {display: 'flex', gap: '2px', padding: '0 14px', flex: 'none'},
		{role: 'tablist', 'aria-label': 'views'});
	for (const [tab, label] of Object.entries(TABS)) {
		const b = element('button', {font: 'inherit', padding: '7px 12px 6px', border: '0', background: 'none',
			cursor: 'pointer', borderBottomStyle: 'solid', borderBottomWidth: '2px'},
		{type: 'button', role: 'tab', id: 'tab-' + tab, 'aria-controls': 'stage'}, label);
		b.addEventListener('click', () => setTab(tab));
		ui.tabs[tab] = b;
		bar.append(b);
	}
	return bar;
}

function buildFooter() {
	ui.found = element('div', {fontWeight: '600', fontVariantNumeric: 'tabular-nums', flex: 'none'}, {id: 'found'});
	ui.name = element('div', {fontWeight: '600', flex: '1 1 0', minWidth: '0', overflow: 'hidden',
		textOverflow: 'ellipsis', whiteSpace: 'nowrap', minHeight: '1.35em'}, {id: 'name'});
	ui.line = element('div', {fontVariantNumeric: 'tabular-nums', overflow: 'hidden', textOverflow: 'ellipsis',
		whiteSpace: 'nowrap', minHeight: '1.35em'}, {id: 'line'});
	ui.legend = element('div', {display: 'flex', flexWrap: 'wrap', gap: '2px 14px', fontSize: '12px'}, {id: 'legend'});
	ui.live = element('div', {height: '1px', width: '1px', overflow: 'hidden', opacity: '0'},
		{id: 'live', role: 'status', 'aria-live': 'polite'});
	return element('div', {padding: '7px 14px 8px', flex: 'none', lineHeight: '1.35'}, {},
	element('div', {display: 'flex', gap: '16px'}, {}, ui.name, ui.found), ui.line, ui.legend, ui.live);
}

// Placed in a foreignObject of an .svg, or in the body of a page.
function place(page) {
	if (!isSvg) {
		root.style.height = document.body.style.height = '100%';
		document.body.style.margin = '0';
		document.body.append(page);
		return;
	}
	const foreign = document.createElementNS(SVG, 'foreignObject');
	for (const [key, value] of [['x', '0'], ['y', '0'], ['width', '100%'], ['height', '100%']])
		foreign.setAttribute(key, value);
	foreign.append(page);
	root.setAttribute('width', '100%');
	root.setAttribute('height', '100%');
	root.removeAttribute('viewBox');
	root.removeAttribute('role');
	root.append(foreign);
}

function buildPage(facts) {
	ui.canvas = element('canvas', {display: 'block', outline: 'none'}, {tabindex: '0', id: 'graph', role: 'application',
		'aria-label': 'flame graph; arrow keys move between frames, Enter zooms, slash searches'});
	ui.list = element('div', {display: 'none', height: '100%', overflow: 'auto', outline: 'none'}, {tabindex: '0', id: 'list'});
	ui.stage = element('div', {flex: '1 1 auto', minHeight: '0', overflow: 'hidden'}, {id: 'stage', role: 'tabpanel'},
		ui.canvas, ui.list);
	ui.header = buildHeader();
	ui.help = buildPanel('help', KEYS);
	ui.about = buildPanel('about', []);
	ui.time = buildHeat();
	ui.bar = buildTabs();
	ui.footer = buildFooter();
	ui.page = element('div', {display: 'flex', flexDirection: 'column', width: '100%', height: '100%', margin: '0',
		font: '13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif', overflow: 'hidden',
		maxWidth: facts.px ? facts.px + 'px' : 'none'},
	{id: 'page'}, ui.header, ui.about, ui.help, ui.time, ui.bar, ui.stage, ui.footer);
	document.getElementById('picture').style.display = 'none';
	place(ui.page);
}

function placeTab() {
	ui.canvas.style.display = view.tab === 'flame' ? 'block' : 'none';
	ui.list.style.display = view.tab === 'flame' ? 'none' : 'block';
	ui.list.scrollTop = 0;
	for (const [tab, b] of Object.entries(ui.tabs))
		b.setAttribute('aria-selected', tab === view.tab);
}

function showEvent() {
	ui.title.textContent = view.graph.facts.title;
	ui.facts.textContent = view.graph.facts.facts;
	ui.about.replaceChildren(...panelRows(view.graph.about.filter(([key]) => key !== 'title')));
	ui.more.style.display = view.graph.about.length ? 'inline' : 'none';
	ui.events.value = view.event;
}

function paintButtons(c) {
	const pressed = new Map([[ui.flip, view.flip], [ui.reverse, view.reversed], [ui.fold, view.fold]]);
	for (const b of [ui.events, ui.reset, ui.shown, ui.flip, ui.reverse, ui.fold, ui.color, ui.theme, ui.helpButton,
		ui.search, ui.spike, ui.allTime]) {
		b.style.background = c.field;
		b.style.color = pressed.get(b) ? c.accent : c.ink;
		b.style.borderColor = pressed.get(b) ? c.accent : c.line;
	}
	for (const [b, on] of pressed)
		b.setAttribute('aria-pressed', on);
	ui.color.textContent = 'Color: ' + view.color;
	ui.theme.textContent = view.dark ? 'Light' : 'Dark';
	ui.reset.style.visibility = view.zoom ? 'visible' : 'hidden'; // keeps its space, so that a zoom does not move the graph
	ui.shown.style.display = view.hidden.length ? 'inline-block' : 'none';
	ui.shown.textContent = 'Show hidden (' + percent(view.hiddenSum, view.hiddenSum + view.top.total[0]) + ')';
	for (const [tab, b] of Object.entries(ui.tabs)) {
		b.style.color = tab === view.tab ? c.ink : c.faint;
		b.style.borderBottomColor = tab === view.tab ? c.accent : 'transparent';
	}
}

function paintTheme() {
	const c = THEMES[view.dark ? 'dark' : 'light'];
	root.style.background = c.ground;
	ui.page.style.background = c.ground;
	ui.page.style.color = c.ink;
	ui.page.style.colorScheme = view.dark ? 'dark' : 'light';
	for (const panel of [ui.header, ui.footer, ui.about, ui.help, ui.time, ui.bar]) {
		panel.style.background = c.panel;
		panel.style.borderColor = c.line;
	}
	for (const panel of [ui.bar, ui.about, ui.help])
		panel.style.borderBottom = '1px solid ' + c.line;
	ui.footer.style.borderTop = '1px solid ' + c.line;
	for (const e of [ui.under, ui.line, ui.legend, ui.heatHint])
		e.style.color = c.faint;
	ui.found.style.color = c.found;
	paintButtons(c);
}
