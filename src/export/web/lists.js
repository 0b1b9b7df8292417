// SPDX-License-Identifier: Apache-2.0
// Flame graph: call tree and hot methods as lists. Same zoom, time range, folding and direction as the graph; rows
// that match the search are highlighted, or shown alone.

const ROWS_MOST = 400, CHILDREN_MOST = 60, OPEN_SHARE = 0.2;
const lists = {sort: 'self', up: false, open: new Map(), rows: [], at: 0};

function bar(share, text, theme) {
	const cell = element('span', {display: 'inline-block', width: '98px', textAlign: 'right', paddingRight: '8px', flex: 'none',
		boxSizing: 'border-box', background: `linear-gradient(to right, ${theme.bar} ${100 * share}%, transparent 0)`,
		fontVariantNumeric: 'tabular-nums', borderRadius: '3px'}, {}, text);
	return cell;
}

function colorOfType(type) {
	const c = view.graph.types[type];
	return shade(...(view.color === 'safe' ? c.safe : c.type), view.dark);
}

function matchedName(name, theme) {
	return element('span', {overflow: 'hidden', textOverflow: 'ellipsis', whiteSpace: 'nowrap',
		color: view.nameHit && view.nameHit[name] ? theme.found : 'inherit',
		fontWeight: view.nameHit && view.nameHit[name] ? '600' : 'inherit'},
	{title: view.graph.names[name]}, view.graph.names[name]);
}

function showLists() {
	if (view.tab === 'tree')
		showTreeRows();
	else if (view.tab === 'methods')
		showMethods();
	else if (view.tab === 'latency')
		ui.list.replaceChildren(element('div', {padding: '4px 14px'}, {}, calls));
}

function nothing(theme) {
	return element('div', {padding: '14px', color: theme.faint}, {}, view.query ? 'No matches.' : 'No samples.');
}

// --- call tree

function childrenOf(i) {
	const t = view.t, found = [];
	for (let c = i + 1; c < t.end[i]; c = t.end[c])
		if (t.total[c])
			found.push(c);
	return found.sort((a, b) => t.total[b] - t.total[a] || a - b);
}

// Nodes with a large share are open unless the user closed them. Stored as paths, which survive a change of the time range.
function isOpen(i) {
	const set = lists.open.get(pathOf(i).join('\n'));
	return set === undefined ? view.t.total[i] >= OPEN_SHARE * view.t.total[view.zoom] : set;
}

function treeRow(i, theme) {
	const t = view.t, leaf = !childrenOf(i).length, open = !leaf && isOpen(i), all = t.total[0];
	const row = element('div', {display: 'flex', gap: '8px', alignItems: 'center', padding: '1px 14px', cursor: 'pointer',
		minHeight: '21px'}, {role: 'treeitem', 'aria-level': t.level[i] - t.level[view.zoom] + 1, id: 'row-' + i},
	bar(t.total[i] / (all || 1), percent(t.total[i], all), theme),
	element('span', {width: '64px', textAlign: 'right', flex: 'none', color: theme.faint, fontVariantNumeric: 'tabular-nums'}, {},
		view.reversed ? '' : percent(t.self[i], all)),
	element('span', {flex: 'none', width: '1em', color: theme.faint, marginLeft: (t.level[i] - t.level[view.zoom]) * 12 + 'px'},
		{'aria-hidden': 'true'}, leaf ? '' : open ? '\u25be' : '\u25b8'),
	swatch(colorOfType(typeOf(i))), matchedName(t.name[i], theme));
	if (!leaf)
		row.setAttribute('aria-expanded', open);
	row.addEventListener('click', () => {
		lists.at = i;
		toggleRow(i);
	});
	return row;
}

function listHead(theme, ...labels) {
	return element('div', {display: 'flex', gap: '8px', padding: '6px 14px 4px', position: 'sticky', top: '0',
		background: theme.ground, color: theme.faint, fontSize: '12px', borderBottom: '1px solid ' + theme.line}, {}, ...labels);
}

function headLabel(text, width, align) {
	return element('span', {width, textAlign: align, flex: 'none'}, {}, text);
}

function showTreeRows() {
	const theme = THEMES[view.dark ? 'dark' : 'light'], body = element('div', {padding: '4px 0'}, {role: 'tree',
		'aria-label': view.reversed ? 'callers of leaves' : 'call tree'}), top = ui.list.scrollTop;
	lists.rows = [];
	const open = [view.zoom];
	while (open.length && lists.rows.length < ROWS_MOST) {
		const i = open.pop();
		lists.rows.push(i);
		if (isOpen(i) || i === view.zoom)
			open.push(...childrenOf(i).slice(0, CHILDREN_MOST).reverse());
	}
	if (!lists.rows.includes(lists.at))
		lists.at = view.zoom;
	body.append(...lists.rows.map(i => treeRow(i, theme)));
	if (open.length)
		body.append(element('div', {padding: '6px 14px', color: theme.faint}, {}, 'There are more rows: close some, or zoom in.'));
	ui.list.replaceChildren(listHead(theme, headLabel('Total', '98px', 'right'), headLabel(view.reversed ? '' : 'Self', '64px', 'right'),
		headLabel('Frame', 'auto', 'left')), view.top.total[0] ? body : nothing(theme));
	ui.list.scrollTop = top;
	markRow(theme);
}

function markRow(theme) {
	const row = document.getElementById('row-' + lists.at);
	if (!row)
		return;
	row.style.background = theme.panel;
	row.style.outline = '1px solid ' + theme.accent;
	row.style.outlineOffset = '-1px';
	row.scrollIntoView({block: 'nearest'});
	view.focus = lists.at;
	updateLine();
}

function toggleRow(i) {
	lists.open.set(pathOf(i).join('\n'), !isOpen(i));
	showTreeRows();
	say(ui.name.textContent + (isOpen(i) ? ' open' : ' closed'));
}

// Returns false for other keys.
function treeKey(e) {
	const at = lists.rows.indexOf(lists.at), i = lists.at;
	const leaf = !childrenOf(i).length, open = isOpen(i) && !leaf;
	if (e.key === 'ArrowDown' && at + 1 < lists.rows.length)
		lists.at = lists.rows[at + 1];
	else if (e.key === 'ArrowUp' && at > 0)
		lists.at = lists.rows[at - 1];
	else if (e.key === 'ArrowRight' && !leaf && !open)
		lists.open.set(pathOf(i).join('\n'), true);
	else if (e.key === 'ArrowLeft' && open && i !== view.zoom)
		lists.open.set(pathOf(i).join('\n'), false);
	else if (e.key === 'ArrowLeft' && i !== view.zoom)
		lists.at = view.t.parent[i];
	else if (e.key === 'Enter')
		return zoomTo(pathOf(i)), true;
	else
		return e.key.startsWith('Arrow');
	showTreeRows();
	say(ui.name.textContent + ', ' + ui.line.textContent);
	return true;
}

// --- hot methods

// Self and total by name; recursion counts once.
function methodRows() {
	const t = view.top, z = view.reversed ? 0 : view.zoom, rows = new Map(), inside = new Int32Array(view.graph.names.length);
	const path = [], rest = view.stretch ? elsewhere() : null;
	for (let i = z; i < t.end[z]; i++) {
		while (path.length && t.end[path[path.length - 1]] <= i)
			inside[t.name[path.pop()]]--;
		path.push(i);
		const name = t.name[i], first = !inside[name]++;
		if (!i || !t.total[i] || (view.nameHit && !view.nameHit[name]))
			continue;
		let row = rows.get(name);
		if (!row)
			rows.set(name, row = {name, self: 0, total: 0, rest: rest ? rest.sums[name] / (rest.all || 1) : 0, most: 0, type: t.type[i]});
		row.self += t.self[i];
		row.total += first ? t.total[i] : 0;
		if (t.total[i] > row.most) {
			row.most = t.total[i];
			row.type = t.type[i];
		}
	}
	const all = t.total[z] || 1;
	for (const row of rows.values())
		row.change = row.self / all - row.rest;
	return [...rows.values()];
}

const METHOD_COLUMNS = [['self', 'Self', '98px'], ['total', 'Total', '98px'], ['change', 'vs. elsewhere', '112px'],
	['name', 'Method', 'auto']];

function compareRows(a, b) {
	const names = view.graph.names, key = lists.sort === 'change' && !view.stretch ? 'self' : lists.sort;
	if (key === 'name')
		return (names[a.name] < names[b.name] ? -1 : 1) * (lists.up ? 1 : -1);
	return (b[key] - a[key] || b.total - a.total || a.name - b.name) * (lists.up ? -1 : 1);
}

function sortButton([key, label, width], theme) {
	const on = lists.sort === key, b = element('button', {width, font: 'inherit', border: '0', background: 'none', cursor: 'pointer',
		padding: '0 8px 0 0', textAlign: key === 'name' ? 'left' : 'right', flex: 'none', color: on ? theme.ink : theme.faint,
		fontWeight: on ? '600' : 'inherit', boxSizing: 'border-box'},
	{type: 'button', id: 'sort-' + key, 'aria-label': 'sort by ' + label}, label + (on ? lists.up ? ' \u25b4' : ' \u25be' : ''));
	b.addEventListener('click', () => {
		lists.up = on ? !lists.up : key === 'name';
		lists.sort = key;
		showMethods();
		say('sorted by ' + label);
	});
	return element('span', {display: 'inline-block', width, flex: 'none'}, {role: 'columnheader',
		'aria-sort': on ? lists.up ? 'ascending' : 'descending' : 'none'}, b);
}

function methodRow(row, all, theme) {
	const change = (row.change >= 0 ? '+' : '\u2212') + (100 * Math.abs(row.change)).toFixed(1) + ' %';
	const cell = (...inner) => element('span', {flex: 'none'}, {role: 'cell'}, ...inner);
	const line = element('div', {display: 'flex', gap: '8px', alignItems: 'center', padding: '1px 14px', minHeight: '21px',
		cursor: 'pointer'}, {role: 'row'}, cell(bar(row.self / all, percent(row.self, all), theme)),
	cell(bar(row.total / all, percent(row.total, all), theme)));
	if (view.stretch)
		line.append(element('span', {width: '112px', textAlign: 'right', paddingRight: '8px', boxSizing: 'border-box', flex: 'none',
			fontVariantNumeric: 'tabular-nums', fontWeight: Math.abs(row.change) >= 0.01 ? '600' : 'inherit'},
		{role: 'cell'}, change));
	line.append(element('span', {display: 'flex', alignItems: 'center', minWidth: '0'}, {role: 'cell'},
		swatch(colorOfType(String.fromCharCode(row.type))), matchedName(row.name, theme)));
	line.addEventListener('click', () => findMethod(row.name));
	return line;
}

// Shows a method in the flame graph, as the result of a search.
function findMethod(name) {
	ui.search.value = '^' + plain(view.graph.names[name]) + '$';
	setTab('flame');
	setQuery(ui.search.value);
	nextMatch(1);
}

function showMethods() {
	const theme = THEMES[view.dark ? 'dark' : 'light'], rows = methodRows().sort(compareRows);
	const all = view.top.total[view.reversed ? 0 : view.zoom] || 1;
	const columns = METHOD_COLUMNS.filter(c => c[0] !== 'change' || view.stretch);
	const body = element('div', {padding: '4px 0'}, {role: 'rowgroup'}, ...rows.slice(0, ROWS_MOST).map(r => methodRow(r, all, theme)));
	if (rows.length > ROWS_MOST)
		body.append(element('div', {padding: '6px 14px', color: theme.faint}, {}, thousands(rows.length - ROWS_MOST) +
			' more methods: search to find them.'));
	const head = listHead(theme, ...columns.map(c => sortButton(c, theme)));
	head.setAttribute('role', 'row');
	ui.list.replaceChildren(element('div', {}, {role: 'table', 'aria-label': 'hot methods'}, head, rows.length ? body : nothing(theme)));
}
