// @ts-check
// The matrix as a map: pod types by node classes, with search, sort, and the evidence behind each cell.

const ROW = 30,
  COLUMN = 34,
  BLOCK = 12,
  CELLS = /** @type {Record<string, {word: VerdictName, sign: string, cls: string}>} */ ({
    y: { word: 'deployable', sign: '✓', cls: 'y' },
    n: { word: 'never', sign: '✗', cls: 'n' },
    u: { word: 'unknown', sign: '?', cls: 'u' },
  });

/** `A` to `Z`, then `AA` and so on, as spreadsheets count. @param {number} index */
function letters(index) {
  let text = '';
  for (let rest = index; rest >= 0; rest = Math.floor(rest / 26) - 1) text = String.fromCharCode(65 + (rest % 26)) + text;
  return text;
}

/** @param {number} count */
function classes(count) {
  return count === 1 ? '1 class' : `${count.toLocaleString('en')} classes`;
}

/**
 * @param {Cluster} cluster @param {MatrixData} matrix
 * @param {{evidence: (row: number, cls: number) => Promise<Answer | null> | Answer | null, command: (pod: string, node: string) => string, flipped?: Set<string>}} source
 * @returns {HTMLElement}
 */
function matrixView(cluster, matrix, source) {
  let search = '',
    where = '',
    sort = 'name',
    only = '';
  /** @type {number[]} */ let rows = [];
  /** @type {number[]} */ let columns = [];
  let focusRow = 0,
    focusColumn = 0;
  const summary = h('p', { class: 'dim', 'aria-live': 'polite' });
  const head = h('div', { class: 'map-head', role: 'row' });
  const sheet = h('div', { class: 'map-sheet', role: 'rowgroup' });
  const box = h(
    'div',
    { class: 'map', role: 'grid', 'aria-label': 'Pod types by node classes', tabindex: '0' },
    h('div', { class: 'map-top', role: 'rowgroup' }, head),
    sheet,
  );
  const panel = h(
    'div',
    { class: 'panel', 'aria-live': 'polite' },
    h('p', { class: 'nothing' }, 'Choose a cell to see the evidence, a letter to see the nodes of a class.'),
  );
  matrix = {
    ...matrix,
    rows: /** @type {MatrixData['rows']} */ (matrix.rows.map(([pod, cells, ...others]) => [pod, unfolded(cells), ...others])),
  };
  const running = matrix.rows.map(([pod, , others, , more = 0]) =>
    [pod, ...others].reduce((sum, one) => sum + cluster.running.total(one), more),
  );
  const yes = matrix.rows.map(([, cells]) => matrix.classes.reduce((sum, nodes, at) => sum + (cells[at] === 'y' ? nodes.length : 0), 0));
  const classText = matrix.classes.map((nodes) => {
    const form = cluster.form(nodes[0]);
    return (
      nodes.map((node) => cluster.nodeName(node)).join(' ') +
      ' ' +
      form.labels.map((pair) => pair.join('=')).join(' ') +
      ' ' +
      form.taints.join(' ')
    );
  });
  const wide = () => (box.clientWidth < 560 ? 150 : 300);

  const arrange = () => {
    rows = matrix.rows
      .map((_, at) => at)
      .filter((at) => {
        const [pod, cells, others] = matrix.rows[at];
        const names = [pod, ...others].map((one) => cluster.pod(one).name);
        return (!search || found(names.join(' '), search)) && (!only || cells.includes(only));
      });
    const byName = (/** @type {number} */ a, /** @type {number} */ b) =>
      cluster.pod(matrix.rows[a][0]).name.localeCompare(cluster.pod(matrix.rows[b][0]).name);
    const orders = /** @type {Record<string, (a: number, b: number) => number>} */ ({
      name: byName,
      fewest: (a, b) => yes[a] - yes[b] || byName(a, b),
      most: (a, b) => yes[b] - yes[a] || byName(a, b),
      running: (a, b) => running[b] - running[a] || byName(a, b),
    });
    rows.sort(orders[sort]);
    columns = matrix.classes.map((_, at) => at).filter((at) => !where || found(classText[at], where));
    if (sort !== 'name') {
      const fit = columns.map((at) => matrix.rows.reduce((sum, [, cells]) => sum + (cells[at] === 'y' ? 1 : 0), 0));
      const rank = new Map(columns.map((at, index) => [at, fit[index]]));
      columns.sort((a, b) => (sort === 'fewest' ? 1 : -1) * ((rank.get(a) ?? 0) - (rank.get(b) ?? 0)) || a - b);
    }
    focusRow = Math.min(focusRow, Math.max(0, rows.length - 1));
    focusColumn = Math.min(focusColumn, Math.max(0, columns.length - 1));
    const [y, n, u] = matrix.counts;
    const total = y + n + u;
    summary.textContent =
      rows.length === matrix.rows.length && columns.length === matrix.classes.length
        ? `${number(matrix.rows.length, 'pod type')} on ${cluster.counted(cluster.data.nodes.map((_, node) => node))} in ${classes(matrix.classes.length)}: ${y.toLocaleString('en')} of ${number(total, 'pair')} ${y === 1 ? 'is' : 'are'} deployable${u ? `, ${u.toLocaleString('en')} unknown` : ''}`
        : `${number(rows.length, 'pod type')} and ${classes(columns.length)} match`;
    box.setAttribute('aria-rowcount', String(rows.length + 1));
    box.setAttribute('aria-colcount', String(columns.length + 1));
    draw(true);
  };

  /** @type {Map<number, HTMLElement>} */ const drawn = new Map();
  let drawnColumns = '';
  let queued = false;
  /** Draws what is in sight: rows come and go one by one, columns in blocks. */
  const draw = (fresh = false) => {
    queued = false;
    // A cell that is drawn anew keeps the focus, or keys would stop to work.
    const held = document.activeElement?.classList.contains('cell') && sheet.contains(document.activeElement);
    const left = wide();
    const firstRow = Math.max(0, Math.floor(box.scrollTop / ROW) - 6),
      lastRow = Math.min(rows.length - 1, Math.ceil((box.scrollTop + box.clientHeight) / ROW) + 6);
    const firstColumn = Math.max(0, Math.floor(box.scrollLeft / COLUMN / BLOCK) * BLOCK),
      lastColumn = Math.min(columns.length - 1, Math.ceil((box.scrollLeft + box.clientWidth - left) / COLUMN / BLOCK) * BLOCK);
    const key = [firstColumn, lastColumn, left].join();
    if (fresh || key !== drawnColumns) {
      drawnColumns = key;
      for (const row of drawn.values()) row.remove();
      drawn.clear();
      sheet.replaceChildren();
      drawHead(firstColumn, lastColumn, left);
    }
    for (const [at, row] of drawn)
      if (at < firstRow || at > lastRow) {
        row.remove();
        drawn.delete(at);
      }
    for (let at = firstRow; at <= lastRow; at++) {
      if (drawn.has(at)) continue;
      const row = line(at, firstColumn, lastColumn, left);
      drawn.set(at, row);
      sheet.insertBefore(row, drawn.get(at + 1) ?? null);
    }
    if (held && !sheet.contains(document.activeElement)) cellAt(focusRow, focusColumn)?.focus({ preventScroll: true });
    if (rows.length === 0)
      fill(sheet, h('div', { role: 'row', class: 'map-row' }, h('p', { class: 'nothing', role: 'gridcell' }, 'Nothing matches.')));
  };
  const drawHead = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ left) => {
    box.style.setProperty('--left', left + 'px');
    sheet.style.height = rows.length * ROW + 'px';
    box.style.setProperty('--content', Math.max(2, rows.length) * ROW + 66 + 'px');
    sheet.style.width = head.style.width = left + columns.length * COLUMN + 8 + 'px';
    const heads = [h('div', { class: 'map-corner', role: 'columnheader' }, 'Pod type', h('span', { class: 'dim small' }, 'running'))];
    for (let at = from; at <= to; at++) {
      const cls = columns[at],
        nodes = matrix.classes[cls];
      const button = h(
        'button',
        {
          type: 'button',
          class: 'map-class' + (nodes.every((node) => cluster.comesFrom(node)) ? ' coming' : ''),
          tabindex: '-1',
          title:
            cluster.counted(nodes) +
            ': ' +
            nodes
              .slice(0, 5)
              .map((node) => shown(cluster.nodeName(node)))
              .join(', '),
          onclick: () => openClass(cls),
        },
        h('b', {}, letters(cls)),
        h('span', {}, nodes.length > 999 ? Math.round(nodes.length / 1000) + 'k' : String(nodes.length)),
      );
      const cell = h('div', { role: 'columnheader', class: 'map-class-at', 'aria-colindex': at + 2 }, button);
      cell.style.left = left + at * COLUMN + 'px';
      heads.push(cell);
    }
    fill(head, heads);
  };
  const line = (/** @type {number} */ at, /** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ left) => {
    const row = rows[at],
      [pod, cells, others, more = 0] = matrix.rows[row];
    const element = h(
      'div',
      { class: 'map-row', role: 'row', 'aria-rowindex': at + 2 },
      h(
        'div',
        { class: 'map-name', role: 'rowheader' },
        h(
          'button',
          {
            type: 'button',
            class: 'link',
            tabindex: '-1',
            title: [pod, ...others]
              .slice(0, 20)
              .map((one) => shown(cluster.pod(one).name))
              .join('\n'),
            onclick: () => openPod(pod, others, more),
          },
          podName(cluster.pod(pod).name),
          others.length + more > 0 && h('span', { class: 'dim' }, ` and ${others.length + more} like it`),
        ),
        running[row] > 0 && h('span', { class: 'dim small', title: 'running' }, String(running[row])),
      ),
    );
    element.style.top = at * ROW + 'px';
    for (let index = from; index <= to; index++) {
      const cls = columns[index],
        { word, sign, cls: look } = CELLS[cells[cls]];
      const flip = source.flipped?.has(row + ' ' + cls);
      const cell = h(
        'div',
        {
          class: `cell ${look}${flip ? ' flipped' : ''}`,
          role: 'gridcell',
          'aria-colindex': index + 2,
          tabindex: at === focusRow && index === focusColumn ? '0' : '-1',
          'aria-label': `${shown(short(cluster.pod(pod).name))} on class ${letters(cls)}: ${word}${flip ? ', changed' : ''}`,
          'data-row': at,
          'data-column': index,
        },
        sign,
      );
      cell.style.left = left + index * COLUMN + 'px';
      element.append(cell);
    }
    return element;
  };
  const soon = () => {
    if (!queued) {
      queued = true;
      requestAnimationFrame(() => draw());
    }
  };
  box.addEventListener('scroll', soon, { passive: true });
  let size = '';
  new ResizeObserver(() => {
    const now = box.clientWidth + 'x' + box.clientHeight;
    if (now !== size) {
      size = now;
      soon();
    }
  }).observe(box);

  const cellAt = (/** @type {number} */ row, /** @type {number} */ column) =>
    /** @type {HTMLElement | null} */ (drawn.get(row)?.querySelector(`[data-column="${column}"]`) ?? null);
  /** Makes another cell the one that keys start from. */
  const moveTo = (/** @type {number} */ row, /** @type {number} */ column) => {
    cellAt(focusRow, focusColumn)?.setAttribute('tabindex', '-1');
    [focusRow, focusColumn] = [row, column];
    const left = wide(),
      top = row * ROW,
      x = column * COLUMN;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW > box.scrollTop + box.clientHeight - 66) box.scrollTop = top + ROW - box.clientHeight + 66;
    if (x < box.scrollLeft) box.scrollLeft = x;
    else if (x + COLUMN > box.scrollLeft + box.clientWidth - left - 16) box.scrollLeft = x + COLUMN - box.clientWidth + left + 16;
    draw();
    const cell = cellAt(row, column);
    cell?.setAttribute('tabindex', '0');
    cell?.focus({ preventScroll: true });
  };
  box.addEventListener('click', (event) => {
    const cell = /** @type {HTMLElement} */ (event.target).closest('.cell');
    if (!(cell instanceof HTMLElement)) return;
    moveTo(Number(cell.dataset.row), Number(cell.dataset.column));
    void openCell(rows[focusRow], columns[focusColumn]);
  });
  box.addEventListener('keydown', (event) => {
    const moves = /** @type {Record<string, [number, number]>} */ ({
      ArrowDown: [1, 0],
      ArrowUp: [-1, 0],
      ArrowRight: [0, 1],
      ArrowLeft: [0, -1],
      PageDown: [15, 0],
      PageUp: [-15, 0],
      Home: [0, -1e9],
      End: [0, 1e9],
    });
    if (moves[event.key]) {
      event.preventDefault();
      const within = (/** @type {number} */ at, /** @type {number} */ most) => Math.max(0, Math.min(most - 1, at));
      moveTo(within(focusRow + moves[event.key][0], rows.length), within(focusColumn + moves[event.key][1], columns.length));
    } else if (
      (event.key === 'Enter' || event.key === ' ') &&
      rows.length &&
      columns.length &&
      event.target instanceof HTMLElement &&
      event.target.tagName !== 'BUTTON'
    ) {
      event.preventDefault();
      void openCell(rows[focusRow], columns[focusColumn]);
    }
  });

  const openCell = async (/** @type {number} */ row, /** @type {number} */ cls) => {
    const pod = cluster.pod(matrix.rows[row][0]).name,
      nodes = matrix.classes[cls],
      node = cluster.nodeName(nodes[0]);
    const { word } = CELLS[matrix.rows[row][1][cls]];
    const title = h(
      'h3',
      {},
      podName(pod),
      ' on ',
      named(node),
      nodes.length > 1 && h('span', { class: 'dim' }, ` and ${number(nodes.length - 1, 'node')} like it`),
    );
    fill(panel, title, h('p', { class: 'dim' }, 'Looking for the evidence …'));
    const answer = await source.evidence(row, cls);
    if (answer) return fill(panel, title, answerView(cluster, answer));
    fill(
      panel,
      title,
      verdictBadge(word),
      h('p', {}, 'The evidence of this cell is not part of this file. This shows it:'),
      h('pre', { class: 'command', tabindex: '0' }, source.command(pod, node)),
    );
  };
  const openClass = (/** @type {number} */ cls) => {
    const nodes = matrix.classes[cls];
    fill(
      panel,
      h('h3', {}, `Class ${letters(cls)}: ${cluster.counted(nodes)}`),
      h(
        'p',
        { class: 'names' },
        nodes.slice(0, 200).map((node) => named(cluster.nodeName(node))),
        nodes.length > 200 && ` and ${nodes.length - 200} more`,
      ),
      nodeDetails(cluster, nodes[0], cluster.running),
    );
  };
  const openPod = (/** @type {number} */ pod, /** @type {number[]} */ others, /** @type {number} */ more) =>
    fill(panel, podDetails(cluster, pod, others, more));

  /** The rows and the classes as lists: a map that scrolls does not print. */
  const printed = () => {
    const spans = (/** @type {string} */ cells, /** @type {string} */ wanted) => {
      /** @type {[number, number][]} */ const runs = [];
      [...cells].forEach((cell, at) => {
        if (cell !== wanted) return;
        const last = runs[runs.length - 1];
        if (last && last[1] === at - 1) last[1] = at;
        else runs.push([at, at]);
      });
      return runs.map(([from, to]) => (from === to ? letters(from) : `${letters(from)}–${letters(to)}`)).join(', ') || '–';
    };
    const row = (/** @type {number} */ at) => {
      const [pod, cells, others, more = 0] = matrix.rows[at];
      return h(
        'tr',
        {},
        h('th', { scope: 'row' }, podName(cluster.pod(pod).name), others.length + more > 0 && ` and ${others.length + more} like it`),
        Object.keys(CELLS).map((cell) => h('td', {}, spans(cells, cell))),
      );
    };
    const nodes = (/** @type {number[]} */ members, /** @type {number} */ at) =>
      h(
        'li',
        {},
        h('b', {}, letters(at)),
        ' ',
        members
          .slice(0, 8)
          .map((node) => shown(cluster.nodeName(node)))
          .join(', '),
        members.length > 8 && ` and ${number(members.length - 8, 'node')} more`,
      );
    const missing = (/** @type {number} */ all, /** @type {string} */ what) =>
      all > PRINTED && h('p', { class: 'dim' }, `${number(all - PRINTED, what)} more not printed: podreach matrix -o json has all.`);
    return [
      h(
        'table',
        { class: 'why' },
        h(
          'thead',
          {},
          h(
            'tr',
            {},
            h('th', {}, 'Pod type'),
            Object.values(CELLS).map(({ word }) => h('th', { scope: 'col' }, word)),
          ),
        ),
        h('tbody', {}, rows.slice(0, PRINTED).map(row)),
      ),
      missing(rows.length, 'row'),
      h('h3', {}, 'Classes of nodes'),
      h('ul', {}, matrix.classes.slice(0, PRINTED).map(nodes)),
      missing(matrix.classes.length, 'class'),
    ];
  };
  const element = h(
    'section',
    { class: 'matrix', 'aria-label': 'Matrix' },
    h(
      'div',
      { class: 'tools' },
      searchBox('Search pod types', (text) => {
        search = text;
        box.scrollTop = 0;
        arrange();
      }),
      searchBox('Search nodes, labels, taints', (text) => {
        where = text;
        box.scrollLeft = 0;
        arrange();
      }),
      field(
        'sort',
        choice(
          [
            ['name', 'by name'],
            ['fewest', 'fewest places first'],
            ['most', 'most places first'],
            ['running', 'most running first'],
          ],
          sort,
          (value) => {
            sort = value;
            arrange();
          },
        ),
      ),
      field(
        'show',
        choice(
          [
            ['', 'all'],
            ['y', 'some deployable'],
            ['n', 'some never'],
            ['u', 'some unknown'],
          ],
          only,
          (value) => {
            only = value;
            arrange();
          },
        ),
      ),
    ),
    matrix.stopped && partial(matrix.stopped),
    summary,
    matrix.leftOut && h('p', { class: 'dim' }, shown(matrix.leftOut)),
    h(
      'p',
      { class: 'legend' },
      Object.values(CELLS).map(({ word, sign, cls }) =>
        h('span', {}, h('span', { class: 'cell ' + cls, 'aria-hidden': 'true' }, sign), word === 'deployable' ? 'can run there' : word),
      ),
    ),
    h('div', { class: 'split no-paper' }, box, panel),
    onPaper(printed),
  );
  requestAnimationFrame(arrange);
  return element;
}

/** Cells written as runs: `3yn` is `yyyn`. @param {string} runs */
function unfolded(runs) {
  return runs.replace(/(\d+)(\D)/g, (_, count, cell) => cell.repeat(Number(count)));
}

/** That something was stopped before its end. @param {string} why */
function partial(why) {
  return h('p', { class: 'reason', role: 'note' }, `This is partial: ${why}. What was not looked at is unknown.`);
}
