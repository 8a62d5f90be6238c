// The served page in a browser: ask, see why, change things, see what flips, cancel.
import { after, test } from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { accessible, browser, fits, folder, open, podreach, serve } from './browser.mjs';

after(() => browser.close());
const demo = ['-f', 'examples/demo.yaml'];

/** Chooses a pod type and a node, and asks. */
async function ask(page, pod, node) {
  await page.getByRole('button', { name: pod, exact: true }).click();
  await page.locator('.cluster .node button', { hasText: node }).click();
  await page.getByRole('button', { name: 'Can it ever?' }).click();
}

async function change(page, op, fields) {
  await page.getByRole('tab', { name: 'Sandbox' }).click();
  const form = page.locator(`form[data-op="${op}"]`);
  for (const [field, value] of Object.entries(fields)) {
    const input = form.locator(`[name="${field}"]`);
    if ((await input.evaluate((element) => element.tagName)) === 'SELECT') await input.selectOption(value);
    else await input.fill(value);
  }
  await form.getByRole('button').click();
}

test('a question is asked by clicking, and answered as check answers it', async (t) => {
  const { page, done } = await open(await serve(t, ...demo));
  await ask(page, 'deployment/shop/web', 'edge-1');
  await page.waitForSelector('.asked-answer .film');
  const { trace } = JSON.parse(podreach('check', ...demo, 'web', 'edge-1', '-o', 'json'));
  assert.equal(await page.locator('.asked-answer .steps .step').count(), trace.length);
  assert.match(await page.locator('.why').textContent(), /InterPodAffinity.*no pod matching app=cache runs on the node/);
  assert.equal(new URL(page.url()).hash, '', 'the token is not left in the address');
  const saved = {};
  for (const [label, file] of [
    ['question', 'question.yaml'],
    ['policy rule', 'policy.yaml'],
    ['run as Mermaid', 'run.mmd'],
    ['run as SVG', 'run.svg'],
    ['run as ITF', 'run.itf.json'],
    ['report', 'report.html'],
    ['Save the certificate', 'podreach-verdict.json'],
  ]) {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('.asked-answer').getByRole('button', { name: label, exact: true }).click(),
    ]);
    assert.equal(download.suggestedFilename(), file);
    saved[file] = path.join(folder, file);
    await download.saveAs(saved[file]);
  }
  assert.match(podreach('check', ...demo, '-f', saved['question.yaml'], '-q'), /^DEPLOYABLE  deployment\/shop\/web can run on edge-1/);
  assert.match(podreach('verify', ...demo, saved['podreach-verdict.json']), /^PROVED/);
  assert.match(readFileSync(saved['policy.yaml'], 'utf8'), /kind: PlacementPolicy[\s\S]*possible:/);
  const report = await open('file://' + saved['report.html']);
  assert.equal(await report.page.locator('.verdict').first().textContent(), 'DEPLOYABLE');
  await report.done();
  await accessible(page, 'an answer');
  await done();
});

test('a taint is flipped in the sandbox, and with it verdicts', async (t) => {
  const { page, done } = await open(await serve(t, ...demo));
  await change(page, 'untaint', { node: 'core-1', key: 'dedicated' });
  await page.getByRole('button', { name: 'Which verdicts flip?' }).click();
  await page.waitForSelector('[data-flip]');
  assert.deepEqual(await page.locator('[data-flip]').evaluateAll((rows) => rows.map((row) => row.dataset.flip)), [
    'deployment/shop/cache core-1 never deployable',
    'deployment/shop/web core-1 never deployable',
  ]);
  await accessible(page, 'the sandbox');
  await change(page, 'taint', { node: 'core-1', key: 'dedicated', value: 'batch', effect: 'NoSchedule' });
  await page.getByRole('button', { name: 'Which verdicts flip?' }).click();
  await page.getByText('No verdict changes.').waitFor();
  await change(page, 'add-node', { node: 'edge-1', name: 'edge-9' });
  await page.getByRole('tab', { name: 'Ask' }).click();
  await ask(page, 'deployment/shop/web', 'edge-9');
  await page.waitForSelector('.asked-answer .verdict.deployable');
  await change(page, 'delete', { pod: 'deployment/shop/cache' });
  await page.getByRole('tab', { name: 'Ask' }).click();
  await page.getByRole('button', { name: 'Can it ever?' }).click();
  await page.waitForSelector('.asked-answer .verdict.never');
  await page.getByRole('button', { name: 'Undo everything' }).click();
  await page.getByRole('heading', { name: 'In the sandbox' }).waitFor({ state: 'detached' });
  await done();
});

test('a change that makes no sense is refused in words', async (t) => {
  const { page, complaints } = await open(await serve(t, ...demo));
  await change(page, 'untaint', { node: 'edge-1', key: 'nothing' });
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').textContent(), /the node has no taint nothing/);
  assert.ok(
    complaints.every((text) => /400/.test(text)),
    'but for the refusal itself the console is silent',
  );
});

test('the matrix is computed, and cells give their evidence', async (t) => {
  const { page, done } = await open(await serve(t, ...demo), { viewport: { width: 360, height: 740 } });
  await page.getByRole('button', { name: 'shop/web', exact: true }).waitFor(); // A phone has no room for kinds; but namespaces tell pods apart.
  await page.getByRole('tab', { name: 'Matrix' }).click();
  await page.waitForSelector('.map .cell');
  await page.locator('.map .cell.n').first().click();
  await page.waitForSelector('.panel .answer .proof');
  await fits(page, 'the matrix on a phone');
  await accessible(page, 'the matrix');
  await done();
});

test('a long question shows progress and is cancelled', async (t) => {
  // A pyramid of sixteen rows, one pebble short: nobody waits for this.
  const rows = 16,
    lines = [];
  for (let row = 0; row < rows; row++)
    for (let at = 0; at <= row; at++) lines.push(`v${row + 1}-${at} v${row}-${at}`, `v${row + 1}-${at + 1} v${row}-${at}`);
  const graph = path.join(folder, 'pyramid.txt'),
    puzzle = path.join(folder, 'pyramid.yaml');
  writeFileSync(graph, lines.join('\n') + '\n');
  writeFileSync(puzzle, podreach('encode', 'pebbling', graph, '--target', 'v0-0', '--pebbles', '17', '-q'));
  const {
    question: {
      goal: [{ pod, node }],
    },
  } = JSON.parse(podreach('check', '-f', puzzle, '--timeout', '100ms', '-o', 'json'));
  const { page, done } = await open(await serve(t, '-f', puzzle, '--semantics', 'paper', '--timeout', '1h'));
  await page.getByLabel('Search pod types').fill(pod);
  await ask(page, pod, node);
  await page.getByRole('status').waitFor();
  assert.match(await page.getByRole('status').textContent(), /Deciding[\d.]+ sCancel/);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForSelector('.asked-answer .verdict.unknown');
  assert.match(await page.locator('.asked-answer .reason').textContent(), /^interrupted; /);
  await done();
});

test('without the token the page says what to do', async (t) => {
  const address = new URL(await serve(t, ...demo));
  const { page } = await open(address.origin + '/');
  await page.getByRole('alert').waitFor();
  assert.match(await page.locator('main').textContent(), /token is missing or wrong.*Open the address that podreach serve printed/);
});

test('changing tabs leaves nothing behind, and a tab that is left takes its job with it', async (t) => {
  const { page, done } = await open(await serve(t, ...demo));
  await page.waitForSelector('.types .step');
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const counts = async () => {
    for (let round = 0; round < 3; round++) await session.send('HeapProfiler.collectGarbage');
    const { metrics } = await session.send('Performance.getMetrics');
    return Object.fromEntries(
      metrics.filter(({ name }) => ['Nodes', 'JSEventListeners'].includes(name)).map(({ name, value }) => [name, value]),
    );
  };
  // Within the page: what is found for the test would be held by the test.
  const round = () =>
    page.evaluate(async () => {
      for (const tab of ['matrix', 'sandbox', 'ask']) {
        document.getElementById('tab-' + tab).click();
        await new Promise((done) => {
          requestAnimationFrame(() => requestAnimationFrame(done));
        });
      }
      while (!document.querySelector('.types .step'))
        await new Promise((done) => {
          requestAnimationFrame(done);
        });
    });
  for (let at = 0; at < 3; at++) await round();
  const before = await counts();
  for (let at = 0; at < 25; at++) await round();
  const after = await counts();
  for (const name of ['Nodes', 'JSEventListeners'])
    assert.ok(after[name] < before[name] * 1.2 + 20, `${name}: ${before[name]}, and ${after[name]} after 25 rounds`);
  await done();
});
