// SPDX-License-Identifier: Apache-2.0
// Flame graph: the elements around the canvas, and their colours.

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
	['c', 'colour: type, package, self'], ['d', 'dark or light'], ['y', 'copy the name'],
	['arrows', 'walk the frames'], ['PgUp PgDn', 'scroll'], ['?', 'this help']];

const view = {graph: null, t: null, zoom: 0, hover: -1, focus: -1, scroll: 0, flip: false, reversed: false,
	color: 'type', dark: false, query: '', hit: null, nameHit: null, matches: [], match: -1, depth: 0,
	width: 0, height: 0, fits: new Map(), colors: new Map(), hidden: false};
const ui = {};

function button(label, title, act) {
	const b = element('button', {font: 'inherit', padding: '4px 10px', borderRadius: '6px', cursor: 'pointer',
		borderStyle: 'solid', borderWidth: '1px', whiteSpace: 'nowrap'}, {type: 'button', title}, label);
	b.addEventListener('click', () => {
		act();
		ui.canvas.focus();
	});
	return b;
}

function buildHeader(facts) {
	ui.title = element('div', {fontSize: '16px', fontWeight: '600', overflowWrap: 'anywhere'}, {}, facts.title);
	ui.facts = element('div', {fontSize: '12px', marginTop: '2px', overflowWrap: 'anywhere', whiteSpace: 'normal'},
		{}, facts.facts);
	ui.search = element('input', {font: 'inherit', padding: '4px 8px', borderRadius: '6px', width: '15em',
		borderStyle: 'solid', borderWidth: '1px', outlineOffset: '1px'},
	{type: 'search', placeholder: 'Search  ( / )', 'aria-label': 'search by regular expression',
		spellcheck: 'false', autocomplete: 'off'});
	ui.reset = button('Reset zoom', 'Esc or 0', () => zoomTo([]));
	ui.flip = button('Flip', 'i: icicle or flame', () => setFlip(!view.flip));
	ui.reverse = button('Reverse', 'r: leaves first, then who called them', () => setReversed(!view.reversed));
	ui.color = button('', 'c: colour by type, package or self', nextColor);
	ui.theme = button('', 'd: dark or light', () => setDark(!view.dark));
	ui.helpButton = button('?', 'keys', toggleHelp);
	const tools = element('div', {display: 'flex', flexWrap: 'wrap', gap: '6px', alignItems: 'center'}, {},
		ui.reset, ui.search, ui.flip, ui.reverse, ui.color, ui.theme, ui.helpButton);
	return element('div', {display: 'flex', flexWrap: 'wrap', gap: '6px 16px', padding: '10px 14px',
		justifyContent: 'space-between', alignItems: 'center', flex: 'none'}, {},
	element('div', {flex: '1 1 320px', minWidth: '0'}, {}, ui.title, ui.facts), tools);
}

function buildHelp() {
	const rows = KEYS.map(([key, what]) => element('div', {minWidth: '19em'}, {},
		element('span', {display: 'inline-block', minWidth: '7em', fontWeight: '600'}, {}, key), what));
	return element('div', {display: 'none', flexWrap: 'wrap', gap: '4px 24px', padding: '8px 14px 12px',
		flex: 'none', maxHeight: '40%', overflow: 'auto'}, {id: 'help'}, ...rows);
}

function buildPage(facts) {
	ui.canvas = element('canvas', {display: 'block', outline: 'none'}, {tabindex: '0', role: 'application',
		'aria-label': 'flame graph; arrow keys walk the frames, Enter zooms, slash searches'});
	ui.stage = element('div', {flex: '1 1 auto', minHeight: '0', overflow: 'hidden'}, {}, ui.canvas);
	ui.found = element('div', {fontWeight: '600', fontVariantNumeric: 'tabular-nums', flex: 'none'}, {id: 'found'});
	ui.name = element('div', {fontWeight: '600', flex: '1 1 0', minWidth: '0', overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap',
		minHeight: '1.35em'}, {id: 'name'});
	ui.line = element('div', {fontVariantNumeric: 'tabular-nums', overflow: 'hidden', textOverflow: 'ellipsis',
		whiteSpace: 'nowrap', minHeight: '1.35em'}, {id: 'line'});
	ui.legend = element('div', {display: 'flex', flexWrap: 'wrap', gap: '2px 14px', fontSize: '12px'}, {id: 'legend'});
	ui.live = element('div', {height: '1px', width: '1px', overflow: 'hidden', opacity: '0'},
		{id: 'live', role: 'status', 'aria-live': 'polite'});
	ui.footer = element('div', {padding: '7px 14px 8px', flex: 'none', lineHeight: '1.35'}, {},
	element('div', {display: 'flex', gap: '16px'}, {}, ui.name, ui.found), ui.line, ui.legend, ui.live);
	ui.header = buildHeader(facts);
	ui.help = buildHelp();
	ui.page = element('div', {display: 'flex', flexDirection: 'column', width: '100%', height: '100%', margin: '0',
		font: '13px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif', overflow: 'hidden'},
	{id: 'page'}, ui.header, ui.help, ui.stage, ui.footer);
	const holder = document.createElementNS(SVG, 'foreignObject');
	for (const [key, value] of [['x', '0'], ['y', '0'], ['width', '100%'], ['height', '100%']])
		holder.setAttribute(key, value);
	holder.append(ui.page);
	document.getElementById('picture').setAttribute('display', 'none');
	svg.setAttribute('width', '100%');
	svg.setAttribute('height', '100%');
	svg.removeAttribute('viewBox');
	svg.removeAttribute('role');
	svg.append(holder);
}

function paintTheme() {
	const c = THEMES[view.dark ? 'dark' : 'light'];
	svg.style.background = c.ground;
	ui.page.style.background = c.ground;
	ui.page.style.color = c.ink;
	ui.page.style.colorScheme = view.dark ? 'dark' : 'light';
	for (const panel of [ui.header, ui.footer, ui.help]) {
		panel.style.background = c.panel;
		panel.style.borderColor = c.line;
	}
	ui.header.style.borderBottom = '1px solid ' + c.line;
	ui.help.style.borderBottom = '1px solid ' + c.line;
	ui.footer.style.borderTop = '1px solid ' + c.line;
	for (const e of [ui.facts, ui.line, ui.legend])
		e.style.color = c.faint;
	ui.found.style.color = c.found;
	const pressed = new Map([[ui.flip, view.flip], [ui.reverse, view.reversed]]);
	for (const b of [ui.reset, ui.flip, ui.reverse, ui.color, ui.theme, ui.helpButton, ui.search]) {
		b.style.background = c.field;
		b.style.color = pressed.get(b) ? c.accent : c.ink;
		b.style.borderColor = pressed.get(b) ? c.accent : c.line;
	}
	for (const [b, on] of pressed)
		b.setAttribute('aria-pressed', on);
	ui.color.textContent = 'Colour: ' + view.color;
	ui.theme.textContent = view.dark ? 'Light' : 'Dark';
	ui.reset.style.display = view.zoom ? 'inline-block' : 'none';
}
