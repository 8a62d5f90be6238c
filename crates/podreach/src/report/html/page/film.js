// @ts-check
// A trace as a film: step, play, scrub and speed; who the witnesses are, what is deleted and why, and what was in the way before.

/**
 * @param {Cluster} cluster @param {Answer} answer
 * @returns {HTMLElement}
 */
function filmView(cluster, answer) {
  const film = /** @type {FilmData} */ (answer.film);
  const { steps } = film;
  const start = answer.start === null || answer.start === undefined ? cluster.data.running : cluster.data.starts[answer.start];
  const goal = new Counts(film.reached === null ? [] : (answer.goal[film.reached] ?? []));
  let counts = new Counts(start);
  /** @type {Map<number, boolean>} */ const there = new Map();
  let at = 0;
  let timer = 0;
  let speed = 1;

  const involved = involvedNodes(steps, goal);
  const stage = h('div', { class: 'stage', role: 'group', 'aria-label': 'Nodes that take part' });
  const caption = h('div', { class: 'caption', 'aria-live': 'polite', 'aria-atomic': 'true' });
  const slider = /** @type {HTMLInputElement} */ (
    h('input', { type: 'range', min: 0, max: steps.length, value: 0, step: 1, 'aria-label': 'Step' })
  );
  const box = h('div', { class: 'scroll steps', tabindex: '0', role: 'group', 'aria-label': 'All steps' });
  const list = virtual(box);
  const playButton = h('button', { type: 'button', class: 'round main', onclick: () => (timer ? pause() : play()) }, icon('play'));

  /** Goes to the state after so many steps. @param {number} to */
  const go = (to) => {
    to = Math.max(0, Math.min(steps.length, to));
    if (Math.abs(to - at) > steps.length / 2 && to < at) {
      counts = new Counts(start);
      there.clear();
      at = 0;
    }
    for (; at < to; at++) move(steps[at], 1);
    for (; at > to; at--) move(steps[at - 1], -1);
    draw();
  };
  const move = (/** @type {Step} */ step, /** @type {number} */ sign) => {
    if (step.node !== undefined && (step.op === 'add-node' || step.op === 'remove-node'))
      there.set(step.node, (step.op === 'add-node') === sign > 0);
    if (!step.at) return;
    counts.add(step.at[0], step.at[1], step.op === 'deploy' ? sign : -sign);
    if (step.becomes !== undefined) counts.add(step.becomes, step.at[1], sign);
  };

  const draw = () => {
    const step = at > 0 ? steps[at - 1] : null;
    slider.value = String(at);
    slider.setAttribute('aria-valuetext', at === 0 ? 'the start' : `step ${at} of ${steps.length}`);
    fill(
      stage,
      involved.map((node) => card(cluster, node, counts, lookAt(node, step), { bars: 4, pills: 12 })),
    );
    fill(caption, ...captionOf(step));
    list.redraw();
    if (at > 0) list.reveal(at - 1);
    for (const [button, off] of /** @type {[HTMLElement, boolean][]} */ ([
      [first, at === 0],
      [back, at === 0],
      [next, at === steps.length],
      [last, at === steps.length],
    ])) {
      /** @type {HTMLButtonElement} */ (button).disabled = off;
    }
  };

  /** @param {number} node @param {Step | null} step @returns {NodeLook} */
  const lookAt = (node, step) => {
    const own = step !== null && nodeOf(step) === node ? step : null;
    const here = (/** @type {Atom[] | undefined} */ atoms, /** @type {number} */ pod) =>
      (atoms ?? []).some(([p, n]) => p === pod && n === node);
    const pod = (/** @type {number} */ p) => {
      if ((own?.op === 'deploy' && own.at?.[0] === p) || own?.becomes === p) return 'comes';
      if (here(step?.witnesses, p)) return 'witness';
      return goal.of(p, node) > 0 ? 'target' : '';
    };
    const first = [
      ...(own?.at ? [own.becomes ?? own.at[0]] : []),
      ...(step?.witnesses ?? []).map(([p]) => p),
      ...goal.on(node).map(([p]) => p),
    ];
    return {
      selected: own !== null,
      pod,
      first,
      ghosts: own?.op === 'delete' && own.at ? [[own.at[0], 'goes']] : [],
      badge: goal.on(node).length > 0 ? 'goal' : undefined,
      there: there.get(node) ?? !cluster.comesFrom(node),
    };
  };

  const captionOf = (/** @type {Step | null} */ step) => {
    if (step === null) {
      const text =
        steps.length === 0
          ? 'The goal is there already: nothing has to happen.'
          : `This runs at the start. ${number(steps.length, 'step')} ${steps.length === 1 ? 'leads' : 'lead'} to the goal.`;
      return [h('h4', {}, 'The start'), h('p', {}, text)];
    }
    const done = at === steps.length && !film.more && h('p', { class: 'done' }, icon('yes'), ' The goal is reached.');
    return [
      h('h4', { 'data-step': String(at) }, `${at}. `, ...toldOf(cluster, step)),
      ...(step.notes ?? []).map((note) => h('p', { class: 'note' }, shown(note))),
      obstacleOf(step),
      done,
    ];
  };

  /** The steps with all that is said about them: a film does not print. */
  const printed = () => [
    ...steps.slice(0, PRINTED).map((step, index) =>
      h(
        'div',
        { class: 'fact' },
        h('h4', {}, `${index + 1}. `, ...toldOf(cluster, step)),
        (step.notes ?? []).map((note) => h('p', { class: 'note' }, shown(note))),
        obstacleOf(step),
      ),
    ),
    steps.length + film.more > PRINTED &&
      h(
        'p',
        { class: 'dim' },
        `${number(steps.length + film.more - Math.min(PRINTED, steps.length), 'step')} more are not printed; the certificate has them all.`,
      ),
  ];

  const play = () => {
    if (at === steps.length) go(0);
    const tick = () => {
      go(at + 1);
      timer = at < steps.length ? window.setTimeout(tick, 1400 / speed) : 0;
      sign();
    };
    timer = window.setTimeout(tick, 400 / speed);
    sign();
  };
  const pause = () => {
    clearTimeout(timer);
    timer = 0;
    sign();
  };
  const sign = () => {
    fill(playButton, icon(timer ? 'pause' : 'play'));
    playButton.setAttribute('aria-label', timer ? 'Pause' : 'Play');
  };
  const button = (/** @type {'first'|'back'|'next'|'last'} */ kind, /** @type {string} */ label, /** @type {() => void} */ act) =>
    h(
      'button',
      {
        type: 'button',
        class: 'round',
        'aria-label': label,
        title: label,
        onclick: () => {
          pause();
          act();
        },
      },
      icon(kind),
    );
  const first = button('first', 'To the start', () => go(0));
  const back = button('back', 'One step back', () => go(at - 1));
  const next = button('next', 'One step on', () => go(at + 1));
  const last = button('last', 'To the end', () => go(steps.length));
  slider.addEventListener('input', () => {
    pause();
    go(Number(slider.value));
  });

  list.show(
    steps.map(() => 34),
    (index) =>
      stepRow(cluster, steps[index], index, index + 1 === at, () => {
        pause();
        go(index + 1);
      }),
  );
  const untouched = cluster.data.nodes.length - involved.length;
  const element = h(
    'section',
    { class: 'film', 'aria-label': 'The run, step by step' },
    h(
      'div',
      { class: 'transport' },
      first,
      back,
      playButton,
      next,
      last,
      slider,
      field(
        'speed',
        choice(
          [
            ['0.5', '½×'],
            ['1', '1×'],
            ['2', '2×'],
            ['4', '4×'],
            ['16', '16×'],
          ],
          '1',
          (value) => {
            speed = Number(value);
          },
        ),
      ),
    ),
    h(
      'div',
      { class: 'film-body' },
      h(
        'div',
        {},
        caption,
        stage,
        untouched > 0 &&
          h(
            'p',
            { class: 'dim' },
            untouched === 1 ? '1 other node takes no part.' : `${untouched.toLocaleString('en')} other nodes take no part.`,
          ),
      ),
      h('div', { class: 'no-paper' }, h('h4', {}, number(steps.length, 'step')), box),
    ),
    onPaper(printed),
  );
  element.addEventListener('keydown', (event) => {
    const key = /** @type {KeyboardEvent} */ (event).key,
      target = /** @type {HTMLElement} */ (event.target);
    if (['SELECT', 'INPUT'].includes(target.tagName)) return;
    const acts = /** @type {Record<string, () => void>} */ ({
      ArrowRight: () => go(at + 1),
      ArrowLeft: () => go(at - 1),
      Home: () => go(0),
      End: () => go(steps.length),
    });
    if (acts[key]) {
      event.preventDefault();
      pause();
      acts[key]();
    }
  });
  sign();
  draw();
  return element;
}

/** @type {Record<string, string>} */
const SIGNS = { deploy: '+', delete: '−', terminate: '…', ready: '✓', uncordon: '✓', 'add-node': '+', 'remove-node': '−' };
/** @type {Record<string, string>} */
const VERBS = { deploy: 'Deploy', delete: 'Delete', terminate: 'Begin to delete' };

/** @param {Step} step @returns {number | undefined} */
function nodeOf(step) {
  return step.at ? step.at[1] : step.node;
}

/** A step as a heading. @param {Cluster} cluster @param {Step} step @returns {(string | HTMLElement)[]} */
function toldOf(cluster, step) {
  if (!step.at) return [shown(step.says)];
  return [VERBS[step.op] + ' ', podName(cluster.pod(step.at[0]).name), ' on ', named(cluster.nodeName(step.at[1]))];
}

/** The nodes of a film, in the order in which they take part. @param {Step[]} steps @param {Counts} goal */
function involvedNodes(steps, goal) {
  const nodes = new Set(goal.nodes.keys());
  for (const step of steps) {
    const own = nodeOf(step);
    if (own !== undefined) nodes.add(own);
    for (const [, node] of step.witnesses ?? []) nodes.add(node);
    if (nodes.size >= 60) break;
  }
  return [...nodes];
}

/** @param {Step} step */
function obstacleOf(step) {
  if (!step.obstacle) return null;
  const { rule, reason } = step.obstacle;
  const before = step.op === 'deploy' ? 'A step before, ' : `Until then, step ${step.obstacle.of + 1} is refused by `;
  return h('p', { class: 'obstacle' }, before, h('b', {}, rule), step.op === 'deploy' ? ' was in the way: ' : ': ', shown(reason));
}

/** @param {Cluster} cluster @param {Step} step @param {number} index @param {boolean} current @param {() => void} chosen */
function stepRow(cluster, step, index, current, chosen) {
  return h(
    'div',
    { class: 'step ' + step.op },
    h(
      'button',
      { type: 'button', class: 'link', 'aria-current': current ? 'step' : null, onclick: chosen },
      h('span', { class: 'count' }, String(index + 1)),
      h('span', { class: 'op' }, SIGNS[step.op]),
      h('span', { class: 'hide' }, step.op + ' '),
      step.at
        ? [
            h('span', { class: 'grow' }, podName(cluster.pod(step.at[0]).name)),
            h('span', { class: 'dim' }, '→ '),
            named(cluster.nodeName(step.at[1])),
          ]
        : h('span', { class: 'grow' }, shown(step.says)),
    ),
  );
}
