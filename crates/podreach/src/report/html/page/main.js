// @ts-check
// The page: what it is about, the verdict, and the views it has data for.

/** @param {VerdictName} verdict */
function verdictBadge(verdict) {
  const sign = /** @type {const} */ ({ deployable: 'yes', never: 'no', unknown: 'unknown' });
  return h('span', { class: 'verdict ' + verdict }, icon(sign[verdict]), verdict.toUpperCase());
}

/** An answer with its evidence. @param {Cluster} cluster @param {Answer} answer @param {boolean} [large] */
function answerView(cluster, answer, large = false) {
  const claim = answer.claim ?? '';
  const facts = [answer.context ?? answer.semantics, `decided by ${answer.engine}`, answer.verdict !== 'unknown' && 'evidence checked']
    .filter(Boolean)
    .join(' · ');
  return h(
    'article',
    { class: 'answer ' + answer.verdict + (large ? ' large' : '') },
    h(
      'div',
      { class: 'answer-head' },
      verdictBadge(answer.verdict),
      claim && h(large ? 'h1' : 'h3', { class: 'question' }, h('bdi', {}, shown(claim))),
    ),
    h('p', { class: 'dim' }, facts),
    answer.film && filmView(cluster, answer),
    answer.proof && proofView(cluster, answer),
    answer.reason && h('p', { class: 'reason' }, shown(answer.reason)),
    answer.leftOut && h('p', { class: 'dim' }, shown(answer.leftOut)),
    answer.certificate !== undefined &&
      answer.certificate !== null &&
      h(
        'p',
        { class: 'exports' },
        h(
          'button',
          { type: 'button', onclick: () => download('podreach-verdict.json', JSON.stringify(answer.certificate, null, 2)) },
          'Save the certificate',
        ),
        h('span', { class: 'dim' }, ' for ', h('code', {}, 'podreach verify')),
      ),
  );
}

/** Remarks about the input. @param {Remark[]} remarks */
function remarksView(remarks) {
  if (remarks.length === 0) return null;
  const place = (/** @type {Remark} */ r) => r.file && `${r.file}${r.line ? ':' + r.line : ''}`;
  const rows = remarks
    .slice(0, 200)
    .map((r) =>
      h(
        'li',
        {},
        h('code', {}, r.code),
        ' ',
        shown(r.message),
        place(r) && h('span', { class: 'dim' }, ' ', shown(place(r) ?? '')),
        r.help && h('div', { class: 'dim' }, shown(r.help)),
      ),
    );
  const details = /** @type {HTMLDetailsElement} */ (
    h(
      'details',
      {},
      h('summary', {}, h('h2', {}, number(remarks.length, 'remark'), ' about the input')),
      h('ul', {}, rows),
      remarks.length > 200 && h('p', { class: 'dim' }, `and ${remarks.length - 200} more`),
    )
  );
  opens(details, () => {});
  return h('section', { class: 'remarks' }, details);
}

/** What all verdicts assume. @param {Assumption[]} assumptions */
function assumedView(assumptions) {
  if (assumptions.length === 0) return null;
  const rows = assumptions.map((a) => h('li', {}, h('code', {}, a.code), ' ', shown(a.text)));
  return h('section', { class: 'remarks' }, h('details', { open: true }, h('summary', {}, h('h2', {}, 'Assumed')), h('ul', {}, rows)));
}

/** A section with a heading. @param {string} title @param {...Kid} kids */
function part(title, ...kids) {
  return h('section', { class: 'part' }, h('h2', {}, title), ...kids);
}

/** @param {PageData} data @param {HTMLElement} app */
function draw(data, app) {
  const cluster = new Cluster(data.cluster);
  document.title = `podreach: ${shown(data.title)}`;
  const views = /** @type {Record<string, () => Kid[]>} */ ({
    check: () => data.answers.map((answer) => answerView(cluster, answer, true)),
    matrix: () => [
      h('h1', {}, 'Where can each pod ever run?'),
      ...data.matrices.map((matrix) =>
        part(data.matrices.length > 1 ? `Matrix (${matrix.semantics})` : 'Matrix', matrixView(cluster, matrix, fileEvidence(matrix))),
      ),
    ],
    audit: () => [h('h1', {}, 'What the audit found'), findingsView(cluster, data.findings)],
  });
  fill(
    app,
    header(data),
    h(
      'main',
      { id: 'main', tabindex: '-1' },
      views[data.kind]?.() ?? [],
      part('Cluster', clusterView(cluster, { counts: cluster.running }).element),
      assumedView(data.assumptions),
      remarksView(data.diagnostics),
    ),
    footer(data),
  );
}

/** The evidence that a file has. @param {MatrixData} matrix */
function fileEvidence(matrix) {
  const known = new Map(matrix.evidence.map(([row, cls, answer]) => [row + ' ' + cls, answer]));
  return {
    evidence: (/** @type {number} */ row, /** @type {number} */ cls) => known.get(row + ' ' + cls) ?? null,
    command: (/** @type {string} */ pod, /** @type {string} */ node) => `podreach check -f FILE ${pod} ${node}`,
  };
}

/** @param {PageData} data */
function header(data) {
  return h(
    'header',
    {},
    h('span', { class: 'brand' }, 'podreach'),
    named(data.title, 'source'),
    h('span', { class: 'chip' }, data.semantics),
  );
}

/** @param {PageData} data */
function footer(data) {
  return h('footer', {}, `${data.generator} · every verdict here was accepted by a checker that knows nothing of how it was found`);
}

/** Draws the data of the page, or asks the server that sent it. */
function main() {
  const app = /** @type {HTMLElement} */ (document.getElementById('app'));
  const data = /** @type {PageData | null} */ (JSON.parse(document.getElementById('data')?.textContent ?? 'null'));
  try {
    if (data) draw(data, app);
    else void serve(app);
  } catch (error) {
    fill(app, h('main', { id: 'main' }, h('p', { class: 'reason' }, 'This page could not be drawn: ' + String(error))));
    throw error;
  }
}
