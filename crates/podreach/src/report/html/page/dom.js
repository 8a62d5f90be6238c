// @ts-check
// Elements, and lists that draw only what is in sight. Text is always set as text.

/** @typedef {Node | string | null | undefined | false} Kid */

/**
 * An element. Properties named `on…` are listeners, the rest attributes; `true` is an empty attribute, `false` and null none.
 * @param {string} tag
 * @param {Record<string, any>} [props]
 * @param {...(Kid | Kid[])} kids
 * @returns {HTMLElement}
 */
function h(tag, props = {}, ...kids) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : String(value));
  }
  fill(element, ...kids);
  return element;
}

/**
 * Puts these in the place of what an element has.
 * @param {Element} element
 * @param {...(Kid | Kid[])} kids
 */
function fill(element, ...kids) {
  element.replaceChildren(
    ...kids
      .flat()
      .filter((kid) => kid !== null && kid !== undefined && kid !== false)
      .map((kid) => /** @type {Node|string} */ (kid)),
  );
}

/** Characters that are not seen, or that change how others are read, as visible escapes. @param {string} text */
function shown(text) {
  return text.replace(
    /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (c) => '\\u{' + c.charCodeAt(0).toString(16) + '}',
  );
}

/** A name from the input: isolated, so that its direction changes nothing around it. @param {string} text @param {string} [cls] */
function named(text, cls = '') {
  return h('bdi', { class: 'name ' + cls, title: shown(text) }, shown(text));
}

/** A pod type's name with its kind and namespace set back. @param {string} text */
function podName(text) {
  const at = text.lastIndexOf('/'),
    kind = text.indexOf('/') + 1;
  if (at < 0) return named(text);
  return h(
    'bdi',
    { class: 'name', title: shown(text) },
    h('span', { class: 'dim' }, h('span', { class: 'kind' }, shown(text.slice(0, kind))), shown(text.slice(kind, at + 1))),
    shown(text.slice(at + 1)),
  );
}

/** The last part of a pod type's name. @param {string} text */
function short(text) {
  return text.slice(text.lastIndexOf('/') + 1);
}

/** `1 node`, `2 nodes`. @param {number} count @param {string} noun */
function number(count, noun) {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`;
}

/** A drawing of a small sign; every sign differs in shape, so that none depends on colour. @param {'yes'|'no'|'unknown'|'play'|'pause'|'next'|'back'|'first'|'last'} sign */
function icon(sign) {
  const paths = {
    yes: 'M4 12.5 9.5 18 20 6.5',
    no: 'M6 6 18 18M18 6 6 18',
    unknown: 'M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1-1.5 2.3M12 18.5v.01',
    play: 'M8 5v14l11-7z',
    pause: 'M8 5v14M16 5v14',
    next: 'M9 5l7 7-7 7',
    back: 'M15 5l-7 7 7 7',
    first: 'M18 5l-7 7 7 7M6 5v14',
    last: 'M6 5l7 7-7 7M18 5v14',
  };
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 24 24');
  svg.setAttribute('class', 'icon icon-' + sign);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', paths[sign]);
  svg.append(path);
  return svg;
}

/** The most rows of a list on paper. */
const PRINTED = 500;

/** Tells what is on the page that it is about to be printed, or was: elements of class `prints` listen themselves, and go with the page. @param {boolean} on */
function paper(on) {
  // What opens first may hold more that opens, and lists.
  for (const selector of ['details.prints', 'details.prints', '.prints:not(details)']) {
    for (const element of document.querySelectorAll(selector)) element.dispatchEvent(new CustomEvent('paper', { detail: on }));
  }
}
/** Something that opens, and that is open on paper. @param {HTMLDetailsElement} details @param {() => void} build what is inside, made when it is first seen */
function opens(details, build) {
  let was = false;
  details.classList.add('prints');
  details.addEventListener('toggle', () => {
    if (details.open) build();
  });
  details.addEventListener('paper', (event) => {
    if (!(/** @type {CustomEvent} */ (event).detail)) {
      details.open = was;
      delete details.dataset.paper;
      return;
    }
    if (!details.open || !details.dataset.paper) was = details.open;
    details.dataset.paper = 'yes';
    build();
    details.open = true;
  });
}

/** Something that is on paper alone. @param {() => Kid[]} make */
function onPaper(make) {
  const element = h('div', { class: 'paper-only prints' });
  element.addEventListener('paper', (event) => fill(element, /** @type {CustomEvent} */ (event).detail ? make() : []));
  return element;
}
window.addEventListener('beforeprint', () => paper(true));
window.addEventListener('afterprint', () => paper(false));

/**
 * A list in a box that scrolls, of which only the rows in sight are drawn.
 * @param {HTMLElement} box
 * @returns {{show: (heights: number[], render: (index: number) => HTMLElement) => void, redraw: () => void, reveal: (index: number) => void}}
 */
function virtual(box) {
  const sheet = h('div', { class: 'sheet' });
  box.append(sheet);
  /** @type {number[]} */ let tops = [0];
  /** @type {(index: number) => HTMLElement} */ let render = () => h('div');
  /** @type {Map<number, HTMLElement>} */ const drawn = new Map();
  let queued = false,
    printing = false;
  const first = (/** @type {number} */ y) => {
    let low = 0,
      high = tops.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((tops[middle + 1] ?? Infinity) <= y) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  const draw = () => {
    queued = false;
    const margin = 300;
    const from = printing ? 0 : first(Math.max(0, box.scrollTop - margin));
    const to = printing
      ? Math.min(tops.length - 2, PRINTED - 1)
      : Math.min(tops.length - 2, first(box.scrollTop + box.clientHeight + margin));
    for (const [index, row] of drawn) {
      if (index < from || index > to) {
        row.remove();
        drawn.delete(index);
      }
    }
    for (let index = from; index <= to; index++) {
      if (drawn.has(index)) continue;
      const row = render(index);
      row.classList.add('row');
      row.style.top = tops[index] + 'px';
      row.style.height = tops[index + 1] - tops[index] + 'px';
      drawn.set(index, row);
      const after = drawn.get(index + 1);
      sheet.insertBefore(row, after ?? null);
    }
  };
  const soon = () => {
    if (!queued) {
      queued = true;
      requestAnimationFrame(draw);
    }
  };
  box.addEventListener('scroll', soon, { passive: true });
  new ResizeObserver(soon).observe(box);
  // On paper there is no scrolling: what fits a few pages is drawn in full.
  const unprinted = h('p', { class: 'dim paper-only' });
  box.append(unprinted);
  box.classList.add('prints');
  box.addEventListener('paper', (event) => {
    printing = /** @type {CustomEvent} */ (event).detail;
    draw();
  });
  const redraw = () => {
    // Whoever is on a button of a row stays on it.
    const at = [...drawn].find(([, row]) => row.contains(document.activeElement));
    const button = at ? [...at[1].querySelectorAll('button')].findIndex((one) => one === document.activeElement) : -1;
    for (const row of drawn.values()) row.remove();
    drawn.clear();
    draw();
    if (at && button >= 0) drawn.get(at[0])?.querySelectorAll('button')[button]?.focus({ preventScroll: true });
  };
  return {
    show(heights, drawRow) {
      tops = [0];
      for (const height of heights) tops.push(tops[tops.length - 1] + height);
      render = drawRow;
      sheet.style.height = tops[tops.length - 1] + 'px';
      unprinted.textContent =
        heights.length > PRINTED
          ? `${number(heights.length - PRINTED, 'more row')} not printed: search for what matters, and print again`
          : '';
      box.style.setProperty('--content', tops[tops.length - 1] + 4 + 'px');
      redraw();
    },
    redraw,
    reveal(index) {
      if (tops[index] < box.scrollTop) box.scrollTop = tops[index];
      else if (tops[index + 1] > box.scrollTop + box.clientHeight) box.scrollTop = tops[index + 1] - box.clientHeight;
    },
  };
}

/** Whether all words of a search are in a text. @param {string} text @param {string} search */
function found(text, search) {
  const low = text.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => low.includes(word));
}

/** Hands a text to the reader as a file. @param {string} file @param {string} text @param {string} [type] */
function download(file, text, type = 'application/json') {
  const link = /** @type {HTMLAnchorElement} */ (h('a', { href: URL.createObjectURL(new Blob([text], { type })), download: file }));
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** A field with its label. @param {string} label @param {HTMLElement} field @param {string} [cls] */
function field(label, field, cls = '') {
  return h('label', { class: 'field ' + cls }, h('span', {}, label), field);
}

/** A choice. @param {[string, string][]} options @param {string} value @param {(value: string) => void} chosen */
function choice(options, value, chosen) {
  const select = /** @type {HTMLSelectElement} */ (
    h(
      'select',
      {},
      options.map(([key, text]) => h('option', { value: key, selected: key === value }, shown(text))),
    )
  );
  select.addEventListener('change', () => chosen(select.value));
  return select;
}

/** A search box that waits for a pause in the typing. @param {string} placeholder @param {(text: string) => void} typed */
function searchBox(placeholder, typed) {
  const input = /** @type {HTMLInputElement} */ (
    h('input', { type: 'search', placeholder, 'aria-label': placeholder, spellcheck: 'false', autocomplete: 'off' })
  );
  let timer = 0;
  input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => typed(input.value.trim()), 80);
  });
  return input;
}
