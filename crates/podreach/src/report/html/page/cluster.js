// @ts-check
// The cluster as nodes grouped by topology, with pods in them and capacities as bars.

/**
 * @typedef {object} NodeLook How a node is drawn beyond what runs on it.
 * @property {boolean} [selected]
 * @property {string} [badge]
 * @property {(pod: number) => string} [pod] classes of a pod's pill
 * @property {[pod: number, cls: string][]} [ghosts] pods that are shown although they do not run
 * @property {number[]} [first] pods to show before others
 * @property {boolean} [there] whether a node is there now that comes or goes in a run
 */

/** A bar per resource. @param {Cluster} cluster @param {number} node @param {Counts} counts @param {number} most */
function bars(cluster, node, counts, most) {
  const usage = cluster.usage(node, counts);
  const rows = usage.slice(0, most).map(({ resource, used, all }) => {
    const label = cluster.data.resources[resource].name;
    const what = h('span', { class: 'what' }, shown(label.slice(label.lastIndexOf('/') + 1)));
    if (all === null) {
      const text = used === 0n ? 'size not known' : `${cluster.amount(resource, used)}, size not known`;
      return h(
        'div',
        { class: 'bar', title: `${label}: ${text}` },
        what,
        h('span', { class: 'track open', 'aria-hidden': 'true' }),
        h('span', { class: 'much' }, text),
      );
    }
    const full = percent(used, all),
      over = used > all;
    const fillBar = h('span', { class: 'fill' + (over ? ' over' : full >= 90 ? ' high' : '') });
    fillBar.style.width = full + '%';
    const text = `${cluster.amount(resource, used)} of ${cluster.amount(resource, all)}`;
    return h(
      'div',
      { class: 'bar', title: `${label}: ${text}${over ? ', more than there is' : ''}` },
      what,
      h('span', { class: 'track', 'aria-hidden': 'true' }, fillBar),
      h('span', { class: 'much' }, text),
    );
  });
  return h(
    'div',
    { class: 'bars' },
    rows,
    usage.length > most && h('span', { class: 'dim small' }, `and ${number(usage.length - most, 'resource')} more`),
  );
}

/** A pod type as a pill. @param {Cluster} cluster @param {number} pod @param {number} count @param {string} [cls] */
function pill(cluster, pod, count, cls = '') {
  const text = cluster.pod(pod).name;
  const role = cls.includes('comes')
    ? 'new'
    : cls.includes('goes')
      ? 'deleted'
      : cls.includes('witness')
        ? 'witness'
        : cls.includes('target')
          ? 'goal'
          : '';
  return h(
    'span',
    { class: 'pill ' + cls, title: shown(text) },
    role && h('span', { class: 'role' }, role),
    h('bdi', {}, shown(short(text))),
    count > 1 && h('b', {}, '×' + count),
  );
}

/** The pods of a node as pills, some of them first. @param {Cluster} cluster @param {number} node @param {Counts} counts @param {number} most @param {NodeLook} look */
function pills(cluster, node, counts, most, look) {
  const here = counts.on(node);
  const rank = (/** @type {number} */ pod) => (look.first?.includes(pod) ? 0 : 1);
  here.sort(([a], [b]) => rank(a) - rank(b) || a - b);
  const list = here.slice(0, most).map(([pod, count]) => pill(cluster, pod, count, look.pod?.(pod) ?? ''));
  const ghosts = (look.ghosts ?? []).map(([pod, cls]) => pill(cluster, pod, 1, cls));
  const more = here.length - most;
  if (!list.length && !ghosts.length) return h('div', { class: 'pills empty' }, 'no pods');
  return h('div', { class: 'pills' }, ghosts, list, more > 0 && h('span', { class: 'more' }, `+${more}`));
}

/** Whether a node is there that comes or goes: what its sign says. @param {Form} form @param {boolean} [there] */
function comingSign(form, there) {
  const text = there === undefined ? 'may come' : there ? 'came' : form.comesFrom ? 'not there yet' : 'gone';
  const title = form.comesFrom ? `comes from ${shown(form.comesFrom)}` : 'its pool took it away';
  return h('span', { class: 'sign coming', title }, text);
}

/**
 * A node as a card.
 * @param {Cluster} cluster @param {number} node @param {Counts} counts @param {NodeLook} look @param {{bars: number, pills: number, open?: (node: number) => void}} size
 */
function card(cluster, node, counts, look, size) {
  const form = cluster.form(node);
  const there = look.there ?? !form.comesFrom;
  const signs = [
    (!there || form.comesFrom) && comingSign(form, look.there),
    form.cordoned && h('span', { class: 'sign', title: 'cordoned: no new pods' }, 'cordoned'),
    form.taints.length > 0 && h('span', { class: 'sign', title: form.taints.map(shown).join('\n') }, number(form.taints.length, 'taint')),
  ];
  // The sign says which pool it is of.
  const name = form.comesFrom ? cluster.nodeName(node).replace(/^[^/]*\//, '') : cluster.nodeName(node);
  const title = size.open
    ? h(
        'button',
        {
          class: 'link',
          type: 'button',
          onclick: () => size.open?.(node),
          'aria-pressed': look.selected === undefined ? null : String(!!look.selected),
        },
        named(name),
      )
    : named(name);
  return h(
    'div',
    { class: 'node' + (look.selected ? ' selected' : '') + (there ? '' : ' away'), 'data-node': cluster.nodeName(node) },
    h('div', { class: 'node-head' }, title, look.badge && h('span', { class: 'badge' }, look.badge), signs),
    bars(cluster, node, counts, size.bars),
    pills(cluster, node, counts, size.pills, look),
  );
}

/** Everything about a node. @param {Cluster} cluster @param {number} node @param {Counts} counts */
function nodeDetails(cluster, node, counts) {
  const form = cluster.form(node);
  const list = (/** @type {string} */ title, /** @type {(string|HTMLElement)[]} */ items) =>
    items.length > 0 &&
    h(
      'div',
      { class: 'facts' },
      h('h4', {}, title),
      h(
        'ul',
        {},
        items.map((item) => h('li', {}, typeof item === 'string' ? shown(item) : item)),
      ),
    );
  return h(
    'div',
    { class: 'details' },
    h('h3', {}, named(cluster.nodeName(node))),
    form.comesFrom && h('p', {}, 'Not there yet: ', named(form.comesFrom), ' may bring nodes like it.'),
    bars(cluster, node, counts, 99),
    list(
      'Pods',
      counts
        .on(node)
        .map(([pod, count]) =>
          h(
            'span',
            {},
            podName(cluster.pod(pod).name),
            count > 1 && ` × ${count}`,
            cluster.kept.of(pod, node) > 0 && h('span', { class: 'dim' }, ' (kept)'),
          ),
        ),
    ),
    list('Taints', form.taints),
    form.cordoned && h('p', {}, 'Cordoned: takes no new pods.'),
    list(
      'Labels',
      form.labels.map(([key, value]) => `${key}=${value}`),
    ),
  );
}

/** Everything about a pod type, and which others are like it. @param {Cluster} cluster @param {number} pod @param {number[]} others @param {number} more */
function podDetails(cluster, pod, others, more) {
  const type = cluster.pod(pod);
  return h(
    'div',
    { class: 'details' },
    h('h3', {}, podName(type.name)),
    h(
      'ul',
      {},
      type.says.map((says) => h('li', {}, shown(says))),
    ),
    type.says.length === 0 && h('p', { class: 'dim' }, 'It asks for nothing in particular.'),
    others.length > 0 &&
      h(
        'p',
        { class: 'dim' },
        'No rule tells it from ',
        others.slice(0, 200).map((other, at) => h('span', {}, at > 0 && ', ', podName(cluster.pod(other).name))),
        Math.max(0, others.length - 200) + more > 0 && ` and ${Math.max(0, others.length - 200) + more} more`,
      ),
  );
}

/**
 * The whole cluster, grouped and searchable.
 * @param {Cluster} cluster
 * @param {{counts: Counts, look?: (node: number) => NodeLook, open?: (node: number) => void}} options
 * @returns {{element: HTMLElement, redraw: (counts?: Counts) => void}}
 */
function clusterView(cluster, options) {
  let { counts } = options;
  let search = '';
  let levels = [cluster.data.levels[0] ?? '', cluster.data.levels[1] ?? ''];
  const box = h('div', { class: 'scroll nodes', role: 'group', 'aria-label': 'Nodes', tabindex: '0' });
  const list = virtual(box);
  const summary = h('p', { class: 'dim', 'aria-live': 'polite' });
  const details = h('div', { class: 'panel', hidden: true });
  /** @type {Set<string>} */ const closed = new Set();
  const open =
    options.open ??
    ((/** @type {number} */ node) => {
      details.hidden = false;
      fill(
        details,
        h(
          'button',
          {
            class: 'close',
            type: 'button',
            'aria-label': 'Close',
            onclick: () => {
              details.hidden = true;
            },
          },
          icon('no'),
        ),
        nodeDetails(cluster, node, counts),
      );
      details.scrollIntoView({ block: 'nearest' });
    });
  const groupName = (/** @type {number} */ node) =>
    levels
      .filter(Boolean)
      .map((key) => cluster.label(node, key) ?? 'none')
      .join(' / ');
  const show = () => {
    /** @type {Map<string, number[]>} */ const groups = new Map();
    let hits = 0;
    cluster.data.nodes.forEach(([text], node) => {
      if (search && !found(text + ' ' + cluster.form(node).labels.flat().join(' ') + ' ' + cluster.form(node).taints.join(' '), search))
        return;
      hits++;
      const key = groupName(node);
      const members = groups.get(key);
      if (members) members.push(node);
      else groups.set(key, [node]);
    });
    summary.textContent = search
      ? `${number(hits, 'node')} of ${cluster.data.nodes.length.toLocaleString('en')}`
      : `${cluster.counted(cluster.data.nodes.map((_, node) => node))} in ${number(groups.size, 'group')}`;
    const across = Math.max(1, Math.floor((box.clientWidth - 8) / 236));
    /** @type {({group: string, nodes: number[]} | number[])[]} */ const rows = [];
    for (const [group, nodes] of [...groups].sort(([a], [b]) => a.localeCompare(b))) {
      if (levels.some(Boolean)) rows.push({ group, nodes });
      if (closed.has(group)) continue;
      for (let at = 0; at < nodes.length; at += across) rows.push(nodes.slice(at, at + across));
    }
    if (rows.length === 0) {
      list.show([72], () => h('p', { class: 'nothing' }, search ? 'No node matches.' : 'There are no nodes.'));
      return;
    }
    list.show(
      rows.map((row) => (Array.isArray(row) ? 168 : 44)),
      (index) => {
        const row = rows[index];
        if (!Array.isArray(row)) return groupHead(row.group, row.nodes);
        const line = h(
          'div',
          { class: 'cards' },
          row.map((node) => card(cluster, node, counts, options.look?.(node) ?? {}, { bars: 3, pills: 4, open })),
        );
        line.style.gridTemplateColumns = `repeat(${across}, minmax(0, 1fr))`;
        return line;
      },
    );
  };
  const groupHead = (/** @type {string} */ group, /** @type {number[]} */ nodes) => {
    const fold = () => {
      if (!closed.delete(group)) closed.add(group);
      show();
    };
    return h(
      'div',
      { class: 'group-head' },
      h(
        'button',
        { class: 'link', type: 'button', 'aria-expanded': String(!closed.has(group)), onclick: fold },
        icon('next'),
        named(group),
      ),
      h('span', { class: 'dim' }, cluster.counted(nodes)),
    );
  };
  const keys = cluster.keys();
  /** @type {[string, string][]} */ const choices = [['', 'nothing'], ...keys.map((key) => /** @type {[string, string]} */ ([key, key]))];
  const element = h(
    'section',
    { class: 'cluster', 'aria-label': 'Cluster' },
    h(
      'div',
      { class: 'tools' },
      searchBox('Search nodes, labels, taints', (text) => {
        search = text;
        show();
      }),
      keys.length > 0 &&
        field(
          'group by',
          choice(choices, levels[0], (key) => {
            levels = [key, levels[1]];
            show();
          }),
        ),
      keys.length > 1 &&
        field(
          'then by',
          choice(choices, levels[1], (key) => {
            levels = [levels[0], key];
            show();
          }),
        ),
    ),
    cluster.data.leftOut && h('p', { class: 'dim' }, shown(cluster.data.leftOut)),
    summary,
    box,
    details,
  );
  let width = 0;
  new ResizeObserver(() => {
    if (Math.abs(box.clientWidth - width) > 20) {
      width = box.clientWidth;
      show();
    }
  }).observe(box);
  return {
    element,
    redraw(next) {
      if (next) counts = next;
      list.redraw();
    },
  };
}
