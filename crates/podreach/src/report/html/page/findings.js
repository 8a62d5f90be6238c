// @ts-check
// What an audit says: rules and findings, each with the evidence it stands on.

/**
 * @param {Cluster} cluster @param {Finding[]} findings
 * @returns {HTMLElement}
 */
function findingsView(cluster, findings) {
  let search = '',
    status = '';
  const rank = { violated: 0, undecided: 1, holds: 2 },
    weight = { error: 0, warning: 1, note: 2 };
  const sorted = [...findings].sort((a, b) => rank[a.status] - rank[b.status] || weight[a.severity] - weight[b.severity]);
  const box = h('div', { class: 'findings' });
  const summary = h('p', { class: 'dim', 'aria-live': 'polite' });
  const most = 200;
  const show = () => {
    const shownItems = sorted.filter(
      (item) =>
        (!status || item.status === status) &&
        (!search || found([item.message, item.name, item.policy, ...item.subject].join(' '), search)),
    );
    const count = (/** @type {string} */ which) => findings.filter((item) => item.status === which).length;
    summary.textContent =
      search || status
        ? `${number(shownItems.length, 'item')} match`
        : `${count('violated')} violated, ${count('undecided')} undecided, ${count('holds')} hold`;
    fill(
      box,
      shownItems.slice(0, most).map((item) => findingView(cluster, item)),
      shownItems.length > most && h('p', { class: 'dim' }, `${number(shownItems.length - most, 'more item')}: search to see them`),
      shownItems.length === 0 &&
        h('p', { class: 'nothing' }, findings.length === 0 ? 'Nothing was found, and no rule was asked for.' : 'Nothing matches.'),
    );
  };
  show();
  return h(
    'section',
    { class: 'audit', 'aria-label': 'Findings' },
    h(
      'div',
      { class: 'tools' },
      searchBox('Search findings', (text) => {
        search = text;
        show();
      }),
      field(
        'show',
        choice(
          [
            ['', 'all'],
            ['violated', 'violated'],
            ['undecided', 'undecided'],
            ['holds', 'what holds'],
          ],
          status,
          (value) => {
            status = value;
            show();
          },
        ),
      ),
    ),
    summary,
    box,
  );
}

/** @param {Cluster} cluster @param {Finding} item */
function findingView(cluster, item) {
  const words = { holds: 'holds', violated: item.policy ? 'violated' : item.severity, undecided: 'undecided' };
  const sign = /** @type {const} */ ({ holds: 'yes', violated: 'no', undecided: 'unknown' });
  const body = h('div', { class: 'finding-body' });
  const details = /** @type {HTMLDetailsElement} */ (
    h(
      'details',
      { class: `finding ${item.status} ${item.severity}` },
      h(
        'summary',
        {},
        h('span', { class: 'mark' }, icon(sign[item.status]), words[item.status]),
        h('span', { class: 'grow' }, shown(item.message)),
        h('span', { class: 'dim' }, shown(item.policy ? `${item.policy} / ${item.name}` : item.name)),
      ),
      body,
    )
  );
  opens(details, () => {
    if (body.childElementCount) return;
    fill(
      body,
      item.explanation.map((text) => h('p', {}, shown(text))),
      item.fix && h('p', { class: 'fix' }, h('b', {}, 'What to do: '), shown(item.fix)),
      item.evidence.map((answer) =>
        h('div', { class: 'evidence' }, h('h4', {}, shown(answer.shows ?? 'Evidence')), answerView(cluster, answer)),
      ),
      item.evidence.length === 0 && h('p', { class: 'dim' }, 'This is read off the input and needs no evidence.'),
      item.boundary && boundaryView(cluster, item.boundary),
    );
  });
  return details;
}

/** What holds a rule up, and what would break it. @param {Cluster} cluster @param {NonNullable<Finding['boundary']>} boundary */
function boundaryView(cluster, { core, escapes, leftOut }) {
  const escape = (/** @type {{edit: string, answer: Answer | null}} */ { edit, answer }) => {
    if (!answer) return h('p', {}, 'if ', shown(edit));
    const details = /** @type {HTMLDetailsElement} */ (h('details', { class: 'escape' }, h('summary', {}, 'if ', shown(edit))));
    opens(details, () => {
      if (details.childElementCount === 1) details.append(answerView(cluster, answer));
    });
    return details;
  };
  return h(
    'div',
    { class: 'evidence' },
    core.length > 0 &&
      h(
        'div',
        {},
        h('h4', {}, 'It stands on'),
        h(
          'ul',
          {},
          core.map((fact) => h('li', {}, shown(fact))),
        ),
      ),
    escapes.length > 0 && h('div', {}, h('h4', {}, 'It would break'), escapes.map(escape)),
    leftOut && h('p', { class: 'dim' }, shown(leftOut)),
  );
}
