// The report in a browser: films, proofs, maps and findings show what podreach found out.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { accessible, browser, fits, folder, hostilePage, open, podreach } from './browser.mjs';

after(() => browser.close());

/** A report about a question or a matrix, as the address of a file. */
function report(what, ...args) {
  const file = path.join(folder, `${what}-${Math.random().toString(36).slice(2)}.html`);
  podreach('report', what, ...args, '-q', '-o', file);
  return 'file://' + file;
}

const demo = ['-f', 'examples/demo.yaml'];
const last = (name) => name.slice(name.lastIndexOf('/') + 1);

/** What the stage shows: pods by node, each as `name×count`. */
const stage = (page) =>
  page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll('.stage .node')].map((node) => [
        node.dataset.node,
        [...node.querySelectorAll('.pill:not(.goes)')]
          .map((pill) => pill.querySelector('bdi').textContent + (pill.querySelector('b')?.textContent ?? ''))
          .sort(),
      ]),
    ),
  );

for (const question of [
  [...demo, 'web', 'edge-1'],
  ['-f', 'examples/pyramid.yaml'],
]) {
  test(`a film shows the states of its trace: ${question.join(' ')}`, async () => {
    const { trace, question: asked } = JSON.parse(podreach('check', ...question, '-o', 'json'));
    const states = JSON.parse(podreach('check', ...question, '-o', 'itf')).states;
    assert.equal(states.length, trace.length + 1);
    const { page, done } = await open(report('check', ...question));
    assert.equal(await page.locator('.verdict').first().textContent(), 'DEPLOYABLE');
    for (const [at, state] of states.entries()) {
      if (at > 0) {
        await page.getByRole('button', { name: 'One step on' }).click();
        const { op, pod, node } = trace[at - 1];
        const title = await page.locator(`.caption h4[data-step="${at}"]`).textContent();
        assert.equal(title, `${at}. ${op === 'deploy' ? 'Deploy' : 'Delete'} ${pod} on ${node}`);
      }
      const running = {};
      for (const [
        {
          '#tup': [pod, node],
        },
        { '#bigint': count },
      ] of state.running['#map'])
        (running[node] ??= []).push(last(pod) + (count === '1' ? '' : '×' + count));
      for (const [node, pods] of Object.entries(await stage(page))) {
        if (!(running[node]?.length > 12)) assert.deepEqual(pods, (running[node] ?? []).sort(), `${node} after step ${at}`);
      }
    }
    assert.match(await page.locator('.caption').textContent(), /The goal is reached/);
    assert.ok(asked.goal.length > 0);
    await done();
  });
}

test('a film is played, scrubbed and stepped by keys', async () => {
  const { page, done } = await open(report('check', ...demo, 'web', 'edge-1'));
  const slider = page.getByRole('slider', { name: 'Step' });
  await page.getByLabel('speed').selectOption('16');
  await page.getByRole('button', { name: 'Play' }).click();
  await page.waitForFunction(() => document.querySelector('input[type=range]').value === '3');
  assert.match(await page.locator('.caption').textContent(), /A step before, InterPodAffinity was in the way/);
  assert.equal(await page.locator('.pill.witness bdi').textContent(), 'cache');
  await slider.fill('1');
  assert.equal(await page.locator('.pill.goes bdi').textContent(), 'batch');
  assert.match(await page.locator('.obstacle').textContent(), /step 2 is refused by InterPodAffinity/);
  await page.getByRole('button', { name: 'One step on' }).focus();
  await page.keyboard.press('ArrowRight');
  assert.equal(await slider.inputValue(), '2');
  await page.keyboard.press('Home');
  assert.equal(await slider.inputValue(), '0');
  await done();
});

test('a proof is walked from fact to fact', async () => {
  const question = [...demo, 'ledger', '--any-node'];
  const { proof } = JSON.parse(podreach('check', ...question, '-o', 'json'));
  const { page, done } = await open(report('check', ...question));
  assert.equal(await page.locator('.verdict').first().textContent(), 'NEVER');
  assert.equal(await page.locator('.facts-list .step').count(), proof.forbidden.length);
  const fact = () => page.locator('.fact h4').getAttribute('data-fact');
  assert.equal(await fact(), '1');
  assert.match(await page.locator('.fact').textContent(), /it would need a pod matching app=audit/);
  await page.locator('.ways .go').first().click();
  assert.equal(await fact(), '4');
  assert.match(await page.locator('.claim').textContent(), /audit on edge-1 can never run/);
  await page.locator('.ways .go').first().click();
  assert.equal(await fact(), '1', 'the argument comes round');
  await page.locator('.facts-list button').last().click();
  assert.equal(await fact(), String(proof.forbidden.length));
  await page.locator('.crumbs button').first().click();
  assert.equal(await fact(), '1');
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Save the certificate' }).click()]);
  const certificate = path.join(folder, 'certificate.json');
  await saved.saveAs(certificate);
  assert.match(podreach('verify', ...demo, certificate), /^PROVED/);
  await done();
});

test('a proof says for how many nodes it stands', async () => {
  const pool = path.join(folder, 'pool.yaml');
  const node = (name) => `{apiVersion: v1, kind: Node, metadata: {name: ${name}}, status: {allocatable: {cpu: 2, pods: 10}}}`;
  writeFileSync(
    pool,
    [
      ...['p1', 'p2', 'p3'].map(node),
      '{apiVersion: v1, kind: Pod, metadata: {name: large}, spec: {containers: [{name: main, image: a, resources: {requests: {cpu: 3}}}]}}',
    ].join('\n---\n'),
  );
  const { page, done } = await open(report('check', '-f', pool, 'large', '--any-node'));
  assert.match(await page.locator('.proof').textContent(), /p1 stands for 3 of the nodes asked for/);
  await done();
});

test('a map shows the matrix, sorts, searches, and opens the evidence', async () => {
  const matrix = JSON.parse(podreach('matrix', ...demo, '-o', 'json'));
  const { page, done } = await open(report('matrix', ...demo));
  await page.waitForSelector('.map .cell');
  const shown = () =>
    page.evaluate(() =>
      [...document.querySelectorAll('.map-row')].map((row) => [
        row.querySelector('.name').textContent,
        [...row.querySelectorAll('.cell')].map((cell) => cell.textContent).join(''),
      ]),
    );
  const sign = (row, at) => (row.deployable.includes(at) ? '✓' : row.never.includes(at) ? '✗' : '?');
  const expected = matrix.rows.map((row) => [row.pod, matrix.nodeClasses.map((_, at) => sign(row, at)).join('')]);
  assert.deepEqual(
    await shown(),
    expected.sort(([a], [b]) => a.localeCompare(b)),
  );
  await page.getByLabel('sort').selectOption('most');
  const places = (cells) => cells.split('✓').length;
  const sorted = (await shown()).map(([, cells]) => places(cells));
  assert.deepEqual(
    sorted,
    [...sorted].sort((a, b) => b - a),
  );
  await page.getByLabel('Search pod types').fill('web');
  await page.waitForFunction(() => document.querySelectorAll('.map-row').length === 1);
  await page.getByLabel('Search nodes, labels, taints').first().fill('dedicated');
  await page.waitForFunction(() => document.querySelectorAll('.map-row .cell').length === 1);
  await page.locator('.map-row .cell').click();
  await page.waitForSelector('.matrix .panel .answer');
  assert.match(await page.locator('.matrix .panel').textContent(), /NEVER.*taint dedicated=batch:NoSchedule is not tolerated/);
  await page.getByLabel('Search pod types').fill('nothing like this');
  await page.waitForSelector('.map .nothing');
  await page.getByLabel('Search pod types').fill('');
  await page.getByLabel('Search nodes, labels, taints').first().fill('');
  await page.waitForFunction((cells) => document.querySelectorAll('.map-row .cell').length === cells, 5 * matrix.nodeClasses.length);
  await page.locator('.map .cell').first().focus();
  for (const key of ['ArrowDown', 'ArrowRight', 'Enter']) await page.keyboard.press(key);
  await page.waitForFunction(() => document.activeElement.dataset.row === '1' && document.activeElement.dataset.column === '1');
  await page.waitForSelector('.matrix .panel .answer');
  await done();
});

test('the cluster is grouped, searched and looked into', async () => {
  const { page, done } = await open(report('check', ...demo, 'web', 'edge-1'));
  assert.deepEqual(await page.locator('.cluster .group-head .name').allTextContents(), ['east', 'west']);
  await page.getByLabel('Search nodes, labels, taints').fill('dedicated');
  await page.waitForFunction(() => document.querySelectorAll('.cluster .node').length === 1);
  await page.locator('.cluster .node button').click();
  assert.match(await page.locator('.cluster .panel').textContent(), /core-1.*dedicated=batch:NoSchedule/);
  await page.getByLabel('Search nodes, labels, taints').fill('no such node');
  await page.waitForSelector('.cluster .nothing');
  await done();
});

test('hostile names are text, in every view', async () => {
  for (const kind of ['check', 'audit']) {
    const file = path.join(folder, `hostile-${kind}.html`);
    writeFileSync(file, hostilePage(kind));
    const { page, done } = await open('file://' + file);
    await page.waitForSelector('.cluster .node');
    if (kind === 'audit') await page.locator('.finding summary').click();
    for (let at = 0; at < 4; at++) {
      const next = page.getByRole('button', { name: 'One step on' });
      if ((await next.count()) && (await next.isEnabled())) await next.click();
    }
    await page.locator('.cluster .node button').first().click();
    assert.equal(await page.evaluate(() => window.hacked), undefined);
    assert.deepEqual(
      await page.evaluate(() => ['img', 'b b', 'iframe', 'object'].filter((tag) => document.querySelector('#app ' + tag))),
      [],
    );
    const text = await page.locator('#app').textContent();
    for (const piece of ['<img src=x onerror=', '</script><script>', '\\u{202e}drawkcab\\u{2066}', 'a\\u{0}b\\u{7f}\\u{200b}c\\u{2028}d'])
      assert.ok(text.includes(piece), piece);
    assert.ok(!/[\u202a-\u202e\u2066-\u2069]/.test(text), 'nothing turns the direction');
    await fits(page, 'a page with very long names');
    await accessible(page, `hostile ${kind}`);
    await done();
  }
});

test('findings open with their evidence', async () => {
  const file = path.join(folder, 'findings.html');
  writeFileSync(file, hostilePage('audit'));
  const { page, done } = await open('file://' + file);
  assert.match(await page.locator('.audit').textContent(), /1 violated, 0 undecided, 0 hold/);
  await page.locator('.finding summary').click();
  await page.waitForSelector('.evidence .film');
  await page.getByLabel('show').selectOption('holds');
  assert.match(await page.locator('.findings').textContent(), /Nothing matches/);
  await done();
});

test('an audit shows its items, and a rule that holds what it stands on', async () => {
  const policy = path.join(folder, 'policy.yaml');
  writeFileSync(
    policy,
    `apiVersion: podreach.dev/v1alpha1
kind: PlacementPolicy
metadata: {name: shop}
spec:
  rules:
  - {name: web-stays-off-core, never: {pods: {names: [web]}, nodes: {names: [core-1]}}}
`,
  );
  const args = [...demo, policy, '--no-cache'];
  const { items } = JSON.parse(podreach('audit', ...args, '-o', 'json'));
  const { page, done } = await open(report('audit', ...args));
  const shown = await page.locator('.finding summary .grow').allTextContents();
  assert.deepEqual(shown.sort(), items.map((item) => item.message).sort());
  const rule = page.locator('.finding', { hasText: 'web-stays-off-core' });
  await rule.locator('summary').first().click();
  await rule.locator('.evidence .proof').first().waitFor();
  assert.match(await rule.textContent(), /It stands on[\s\S]*It would break/);
  await rule.locator('.escape summary').first().click();
  await rule.locator('.escape .film').first().waitFor();
  await accessible(page, 'an audit');
  await done();
});

test('light and dark, wide and narrow, the pages are accessible and fit', async () => {
  const pages = {
    deployable: report('check', ...demo, 'web', 'edge-1'),
    never: report('check', ...demo, 'ledger', '--any-node'),
    matrix: report('matrix', ...demo),
    unknown: report('check', '-f', 'crates/podreach-cli/tests/data/doubts.yaml', 'friend', 'n1'),
  };
  for (const [what, address] of Object.entries(pages)) {
    for (const colorScheme of ['light', 'dark']) {
      for (const viewport of [
        { width: 1280, height: 900 },
        { width: 360, height: 740 },
      ]) {
        const { page, done } = await open(address, { colorScheme, viewport });
        const next = page.getByRole('button', { name: 'To the end' });
        if ((await next.count()) && (await next.isEnabled())) await next.click();
        if (what === 'matrix') {
          await page.waitForSelector('.map .cell');
          await page.locator('.map .cell').first().click();
        }
        await fits(page, `${what}, ${viewport.width} wide`);
        await accessible(page, `${what}, ${colorScheme}, ${viewport.width} wide`);
        await done();
      }
    }
  }
});

test('on paper every step is there', async () => {
  const question = ['-f', 'examples/pyramid.yaml'];
  const { trace } = JSON.parse(podreach('check', ...question, '-o', 'json'));
  const { page, done } = await open(report('check', ...question));
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')));
  assert.equal(await page.locator('.steps .step').count(), trace.length);
  assert.equal(await page.locator('.transport').isVisible(), false);
  await done();
});

test('the same report twice is the same file', () => {
  const [a, b] = [0, 1].map(() => readFileSync(new URL(report('matrix', ...demo)), 'utf8'));
  assert.equal(a, b);
});

test('on paper there are all rows, all explanations and the whole proof', async () => {
  const paper = (page) =>
    page.evaluate(() => {
      window.dispatchEvent(new Event('beforeprint'));
      return true;
    });
  const proof = await open(report('check', '-f', 'examples/short-of-room.yaml'));
  const {
    proof: { forbidden },
  } = JSON.parse(podreach('check', '-f', 'examples/short-of-room.yaml', '-o', 'json'));
  await proof.page.emulateMedia({ media: 'print' });
  await paper(proof.page);
  assert.equal(await proof.page.locator('.proof .paper-only .fact').count(), forbidden.length);
  assert.ok(await proof.page.locator('.proof .paper-only .fact').first().isVisible());
  await proof.done();
  const run = [...demo, 'web', 'edge-1'];
  const { trace } = JSON.parse(podreach('check', ...run, '-o', 'json'));
  const film = await open(report('check', ...run));
  await film.page.emulateMedia({ media: 'print' });
  await paper(film.page);
  const steps = film.page.locator('.film .paper-only .fact');
  assert.equal(await steps.count(), trace.length);
  assert.ok(
    (await steps.last().isVisible()) && (await film.page.locator('.film .paper-only .note').count()) > 0,
    'steps say why they are there',
  );
  assert.match(await film.page.locator('.film .stage').innerText(), /\d/, 'the amounts of the nodes that take part');
  assert.equal((await film.page.pdf()).subarray(0, 5).toString(), '%PDF-');
  await film.done();
  const matrix = JSON.parse(podreach('matrix', ...demo, '-o', 'json'));
  const map = await open(report('matrix', ...demo));
  await map.page.waitForSelector('.map .cell');
  await map.page.emulateMedia({ media: 'print' });
  await paper(map.page);
  assert.equal(await map.page.locator('.matrix .paper-only tbody tr').count(), matrix.rows.length);
  assert.equal(await map.page.locator('.matrix .paper-only li').count(), matrix.nodeClasses.length);
  await map.done();
  const audit = await open(report('audit', ...demo, '--no-cache'));
  await audit.page.waitForSelector('.finding');
  await paper(audit.page);
  const bodies = await audit.page
    .locator('.finding')
    .evaluateAll((all) => all.map((one) => one.open && one.querySelector('.finding-body').textContent.length > 0));
  assert.ok(bodies.length > 0 && bodies.every(Boolean), 'every finding is explained');
  await audit.page.evaluate(() => window.dispatchEvent(new Event('afterprint')));
  assert.equal(await audit.page.locator('.finding[open]').count(), 0, 'and closed again');
  await audit.done();
});

test('nodes that may come are told from those that are there', async () => {
  const file = path.join(folder, 'pool.yaml');
  writeFileSync(
    file,
    `{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {name: batch}, spec: {labels: {tier: batch}, allocatable: {cpu: 4}}}
---
{apiVersion: podreach.dev/v1alpha1, kind: NodePool, metadata: {name: open}, spec: {labels: {tier: open}}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1}, status: {allocatable: {cpu: 8, pods: 110}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: worker}, spec: {nodeSelector: {tier: batch}, containers: [{name: c, image: i}]}}
`,
  );
  const { page, done } = await open(report('check', '-f', file, 'worker', '--any-node'));
  const sign = (node) => page.locator(`.stage .node[data-node="${node}"] .sign.coming`).textContent();
  assert.equal(await sign('nodepool/batch/1.1'), 'not there yet');
  await page.getByRole('button', { name: 'One step on' }).click();
  assert.equal(await sign('nodepool/batch/1.1'), 'came');
  const card = (node) => page.locator(`.cluster .node[data-node="${node}"]`);
  assert.equal(await card('n1').locator('.sign.coming').count(), 0);
  assert.equal(await card('nodepool/batch/1.1').locator('.sign.coming').textContent(), 'may come');
  assert.match(await card('nodepool/open/1.1').locator('.bars').textContent(), /size not known/);
  assert.match(await page.locator('.cluster').textContent(), /1 node and 4 that may come/);
  assert.doesNotMatch(await page.content(), /340282/);
  await accessible(page, 'a run with a new node');
  await done();
});
