// SPDX-License-Identifier: Apache-2.0
// Flame graph: derives the visible tree from the base tree: time range, folding, hidden frames.

// Totals from self values.
function fill(shape, own, ownOther) {
	const t = Object.assign({}, shape, {total: own.slice(), other: ownOther.slice(),
		matched: new Float64Array(shape.count)});
	for (let i = t.count - 1; i > 0; i--) {
		t.total[t.parent[i]] += t.total[i];
		t.other[t.parent[i]] += t.other[i];
	}
	return finish(t);
}

// Nodes removed by folding: 1 above the first Java frame of a thread, 2 native frames between others.
function foldable(t) {
	const fold = new Uint8Array(t.count), below = new Uint8Array(t.count), above = new Uint8Array(t.count);
	const is = set => i => set.includes(String.fromCharCode(t.type[i]));
	const isJava = is(JAVA), isNative = is(NATIVE);
	for (let i = t.count - 1; i > 0; i--)
		below[t.parent[i]] |= below[i] | isJava(i);
	for (let i = 1; i < t.count; i++) {
		const p = t.parent[i];
		above[i] = above[p] | isJava(p);
		if (!isNative(i))
			continue;
		if (!above[i] && below[i])
			fold[i] = 1;
		else if (above[i] && isNative(p) && !t.self[i] && !t.selfOther[i])
			fold[i] = 2;
	}
	return fold;
}

// The tree without foldable nodes, linked, and its node for each base node. A foldable node with a self value stays.
function foldTree(t, names) {
	const fold = foldable(t), found = new Map(), up = new Uint32Array(t.count), to = new Uint32Array(t.count);
	const name = [t.name[0]], type = [t.type[0]], most = [t.total[0]], children = [[]];
	function put(parent, i) {
		const key = parent * names.length + t.name[i];
		let at = found.get(key);
		if (at === undefined) {
			at = name.length;
			found.set(key, at);
			name.push(t.name[i]);
			type.push(t.type[i]);
			most.push(-1);
			children.push([]);
			children[parent].push(at);
		}
		if (t.total[i] > most[at]) {
			most[at] = t.total[i];
			type[at] = t.type[i];
		}
		return at;
	}
	for (let i = 1; i < t.count; i++) {
		const parent = up[t.parent[i]], ends = t.self[i] > 0 || t.selfOther[i] > 0;
		to[i] = fold[i] && !ends ? parent : put(parent, i);
		up[i] = fold[i] ? parent : to[i];
	}
	const shape = newNodes(name.length), place = new Uint32Array(name.length), open = [[0, 0]];
	for (let n = 0; open.length; n++) {
		const [at, level] = open.pop();
		place[at] = n;
		shape.level[n] = level;
		shape.name[n] = name[at];
		shape.type[n] = type[at];
		children[at].sort((a, b) => name[b] - name[a]);
		for (const c of children[at])
			open.push([c, level + 1]);
	}
	for (let i = 0; i < t.count; i++)
		to[i] = place[to[i]];
	return {shape: link(shape), to};
}

// True if the stack that ends at node i has these names, leaf first, as its last frames: it is in that subtree of the reversed tree.
function endsBelow(t, names, i, path) {
	for (const part of path) {
		if (i <= 0 || names[t.name[i]] !== part)
			return false;
		i = t.parent[i];
	}
	return true;
}

// Removes hidden stacks from own. Returns their sum.
function hide(t, names, own, ownOther, hidden) {
	let sum = 0;
	for (const {path, reversed} of hidden) {
		const at = reversed ? 0 : nodeByPath(t, path);
		if (!reversed && t.level[at] < path.length)
			continue;
		for (let i = at; i < t.end[at]; i++) {
			if (reversed && !endsBelow(t, names, i, path))
				continue;
			sum += own[i];
			own[i] = ownOther[i] = 0;
		}
	}
	return sum;
}

// Builds the visible tree, from callers to callees, and updates view.
function shapeTop() {
	const g = view.graph, base = g.base;
	let own = base.self, other = base.selfOther, shape = base;
	view.to = null;
	view.hiddenSum = 0;
	if (view.stretch)
		[own, other] = sumSlices(g.slices, base.count, ...view.stretch);
	else if (!view.fold && !view.hidden.length)
		return base;
	if (view.fold) {
		g.folded = g.folded || foldTree(base, g.names);
		shape = g.folded.shape;
		view.to = g.folded.to;
		const from = [own, other];
		own = new Float64Array(shape.count);
		other = new Float64Array(shape.count);
		for (let i = 0; i < base.count; i++) {
			own[view.to[i]] += from[0][i];
			other[view.to[i]] += from[1][i];
		}
	} else {
		own = own.slice();
		other = other.slice();
	}
	view.hiddenSum = hide(shape, g.names, own, other, view.hidden);
	return fill(shape, own, other);
}
