// A browser that tells of everything that goes wrong in it, and podreach to ask.
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import assert from 'node:assert/strict';
import { chromium } from 'playwright-core';

const root = path.resolve(import.meta.dirname, '../../..');
const target = process.env.CARGO_TARGET_DIR ?? path.join(root, 'target');
const binary = process.env.PODREACH ?? path.join(target, 'debug/podreach');
const hostile = process.env.PODREACH_HOSTILE ?? path.join(target, 'debug/examples/hostile');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
export const folder = mkdtempSync(path.join(tmpdir(), 'podreach-page-'));

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: flags });

/** Runs podreach in the repository; its exit status may be any. */
export function podreach(...args) {
  try {
    return execFileSync(binary, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 28 });
  } catch (error) {
    if (typeof error.stdout === 'string' && error.status < 4) return error.stdout;
    throw error;
  }
}

/** The hostile page of a kind. */
export function hostilePage(kind) {
  return execFileSync(hostile, [kind], { encoding: 'utf8', maxBuffer: 1 << 28 });
}

/** Opens a page; `done` closes it and fails if the console had anything to complain about, or the network was asked. */
export async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  const complaints = [],
    asked = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => asked.push(request.url()));
  await page.goto(address);
  const done = async () => {
    assert.deepEqual(complaints, [], 'the console is silent');
    const origin = new URL(address).origin;
    assert.deepEqual(
      asked.filter((url) => !url.startsWith(origin === 'null' ? 'file://' : origin) && !url.startsWith('blob:')),
      [],
      'nothing else was asked',
    );
    await context.close();
  };
  return { page, done, complaints };
}

/** Fails on accessibility findings that are serious or critical. */
export async function accessible(page, what) {
  await page.waitForTimeout(700); // Colours in motion have no contrast yet.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  const bad = violations.filter(({ impact }) => ['serious', 'critical'].includes(impact));
  assert.deepEqual(
    bad.map(
      ({ id, nodes }) =>
        `${id}: ${nodes
          .slice(0, 3)
          .map((node) => node.html.slice(0, 160))
          .join(' | ')}`,
    ),
    [],
    what,
  );
}

/** Fails if the page is wider than the window. */
export async function fits(page, what) {
  const [content, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.ok(content <= width, `${what}: ${content} is wider than ${width}`);
}

/** Starts `podreach serve`; ends with the test. */
export async function serve(test, ...args) {
  const child = spawn(binary, ['serve', '-q', ...args], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  test.after(() => child.kill());
  for await (const text of child.stdout) {
    const address = String(text).match(/http:\S+/);
    if (address) return address[0];
  }
  throw new Error('podreach serve said nothing');
}
