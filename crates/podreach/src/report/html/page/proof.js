// @ts-check
// A proof as an argument to walk: a group that can never be, who could have come last, what each would have needed, and which group
// that hits.

/**
 * @param {Cluster} cluster @param {Answer} answer
 * @returns {HTMLElement}
 */
function proofView(cluster, answer) {
  const proof = /** @type {ProofData} */ (answer.proof);
  /** @type {Map<number, number>} */ const numbers = new Map(proof.groups.map((group, at) => [group.id, at]));
  /** @type {number[]} */ let trail = [0];
  const here = h('div', { class: 'fact', 'aria-live': 'polite' });
  const crumbs = h('nav', { class: 'crumbs', 'aria-label': 'The way here' });
  const box = h('div', { class: 'scroll facts-list', tabindex: '0', role: 'group', 'aria-label': 'All facts' });
  const list = virtual(box);
  let search = '';
  /** @type {number[]} */ let shownFacts = [];

  const go = (/** @type {number} */ fact) => {
    const before = trail.indexOf(fact);
    trail = before >= 0 ? trail.slice(0, before + 1) : [...trail, fact].slice(-12);
    const inside = here.contains(document.activeElement) || crumbs.contains(document.activeElement);
    draw();
    if (inside) here.querySelector('h4')?.focus();
  };
  const draw = () => {
    const fact = trail[trail.length - 1];
    fill(
      crumbs,
      trail.length > 1 &&
        trail.map((step, at) =>
          h(
            'span',
            {},
            at > 0 && ' › ',
            at === trail.length - 1
              ? h('b', { 'aria-current': 'step' }, `fact ${step + 1}`)
              : h('button', { type: 'button', class: 'link', onclick: () => go(step) }, `fact ${step + 1}`),
          ),
        ),
    );
    fill(here, ...factOf(fact));
    list.redraw();
    list.reveal(shownFacts.indexOf(fact));
  };

  const factOf = (/** @type {number} */ at) => {
    const group = proof.groups[at];
    if (!group) return [h('p', { class: 'nothing' }, 'The proof is empty: the goal is ruled out by the rules themselves.')];
    const size = group.counts.reduce((sum, [, count]) => sum + count, 0);
    const lead =
      size === 1
        ? 'Suppose it did run there. At the moment it was deployed:'
        : 'Suppose they were present together. One of them came last:';
    return [
      h(
        'h4',
        { 'data-fact': String(at + 1), tabindex: '-1' },
        `Fact ${at + 1}`,
        proof.goals.includes(group.id) && h('span', { class: 'badge' }, 'rules out the goal'),
      ),
      h('p', { class: 'claim' }, shown(group.claim) + '.'),
      members(group),
      h('p', { class: 'dim' }, lead),
      ...group.last.map((last) => lastOf(last, size === 1)),
    ];
  };

  /** The pods of a group. @param {GroupData} group */
  const members = (group) =>
    h(
      'div',
      { class: 'pills' },
      group.counts.map(([cls, count]) => {
        const { members, size } = proof.classes[cls];
        const [pod, node] = members[0];
        const others = size > 1 ? ` (or one of ${size - 1} like it)` : '';
        return h(
          'span',
          { class: 'pill goes', title: members.map((atom) => shown(cluster.atom(atom))).join('\n') },
          h('bdi', {}, shown(short(cluster.pod(pod).name))),
          h('span', { class: 'dim' }, ' on '),
          h('bdi', {}, shown(cluster.nodeName(node))),
          count > 1 && h('b', {}, '×' + count),
          h('span', { class: 'dim' }, others),
        );
      }),
    );

  const lastOf = (/** @type {LastData} */ last, /** @type {boolean} */ alone) =>
    h(
      'div',
      { class: 'last' },
      !alone && h('h5', {}, 'If ', named(last.name), ' came last'),
      h('p', {}, shown(last.why) + '.'),
      last.ways.length > 0 &&
        h(
          'ul',
          { class: 'ways' },
          last.ways.map((way) => h('li', {}, wayOf(way))),
        ),
      last.ways.length === 0 && last.leans.map((lean) => link(lean)),
      last.more > 0 && h('p', { class: 'dim' }, `and ${number(last.more, 'way')} more, all ruled out`),
    );

  const wayOf = (/** @type {Way} */ way) => {
    const who = way.with.map((atom, at) =>
      h('span', {}, at > 0 && ' and ', podName(cluster.pod(atom[0]).name), ' on ', named(cluster.nodeName(atom[1]))),
    );
    return h('span', {}, 'with ', who, ' ', way.hits === null ? h('span', { class: 'dim' }, 'it would still be refused') : link(way.hits));
  };
  const link = (/** @type {number} */ id) => {
    const fact = numbers.get(id);
    if (fact === undefined) return h('span', { class: 'dim' }, '→ ruled out by a fact that is only in the certificate');
    return h('button', { type: 'button', class: 'go', onclick: () => go(fact) }, `→ fact ${fact + 1}`);
  };
  const filter = () => {
    shownFacts = proof.groups.map((_, at) => at).filter((at) => !search || found(proof.groups[at].claim, search));
    if (shownFacts.length === 0) return list.show([40], () => h('p', { class: 'nothing' }, 'No fact matches.'));
    list.show(
      shownFacts.map(() => 50),
      (index) => {
        const at = shownFacts[index];
        return h(
          'div',
          { class: 'step tall' },
          h(
            'button',
            { type: 'button', class: 'link', 'aria-current': at === trail[trail.length - 1] ? 'step' : null, onclick: () => go(at) },
            h('span', { class: 'count' }, String(at + 1)),
            h('span', { class: 'grow', title: shown(proof.groups[at].claim) }, shown(proof.groups[at].claim)),
          ),
        );
      },
    );
  };
  /** All facts: a walk does not print. */
  const printed = () => {
    const facts = Math.min(PRINTED, proof.groups.length),
      unprinted = proof.all - facts;
    return [
      ...Array.from({ length: Math.max(1, facts) }, (_, at) => h('div', { class: 'fact' }, ...factOf(at))),
      unprinted > 0 && h('p', { class: 'dim' }, `${number(unprinted, 'fact')} more are not printed; the certificate has them all.`),
    ];
  };
  const hidden = proof.all - proof.groups.length;
  filter();
  draw();
  return h(
    'section',
    { class: 'proof', 'aria-label': 'The proof' },
    proof.all > 1 &&
      h(
        'p',
        { class: 'dim' },
        'None of these groups is there at the start, and whichever pod of a group came last would have needed another group to be there already. So none ever is.',
      ),
    proof.others.map((line) => h('p', { class: 'dim' }, shown(line))),
    h(
      'div',
      { class: proof.all > 1 ? 'film-body no-paper' : 'no-paper' },
      h('div', {}, crumbs, here),
      proof.all > 1 &&
        h(
          'div',
          {},
          h('h4', {}, number(proof.all, 'fact')),
          proof.groups.length > 8 &&
            searchBox('Search facts', (text) => {
              search = text;
              filter();
            }),
          box,
          hidden > 0 && h('p', { class: 'dim' }, `${number(hidden, 'fact')} more are in the certificate.`),
        ),
    ),
    onPaper(printed),
  );
}
