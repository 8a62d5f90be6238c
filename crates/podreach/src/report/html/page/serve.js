// @ts-check
// The page of `podreach serve`: ask by clicking, see why live, change things in a sandbox.

/** Asks the server; what it refuses is thrown as its sentence. */
class Connection {
  /** @param {string} token */
  constructor(token) {
    this.token = token;
    /** The jobs that someone on this page waits for. @type {Set<number>} */ this.jobs = new Set();
    // A page that goes says so; one that cannot is noticed by its silence.
    window.addEventListener('pagehide', () => {
      for (const id of this.jobs) this.leave(id);
    });
  }
  /** Detaches from a job, which ends with what it knows when nobody else is attached. @param {number} id */
  leave(id) {
    void fetch('/api/jobs/' + id, { method: 'DELETE', headers: { Authorization: 'Bearer ' + this.token }, keepalive: true }).catch(
      () => {},
    );
  }
  /** @param {string} method @param {string} path @param {unknown} [body] @returns {Promise<any>} */
  async send(method, path, body) {
    const headers = /** @type {Record<string, string>} */ ({ Authorization: 'Bearer ' + this.token });
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    let response;
    try {
      response = await fetch('/api/' + path, {
        method,
        headers,
        body: body === undefined ? undefined : JSON.stringify(body),
        cache: 'no-store',
      });
    } catch {
      throw new Error('podreach does not answer: it may have been ended in its terminal');
    }
    const value = await response.json();
    if (!response.ok) throw new Error(value.error ?? 'refused');
    return value;
  }
  /**
   * Runs a job to its end, with progress in a box and a button to cancel it. A box that is taken off the page takes its job with it;
   * the result is then null.
   * @param {string} what @param {unknown} body @param {HTMLElement} box @param {string} label
   */
  async run(what, body, box, label) {
    /** @type {JobData} */ let job = await this.send('POST', what, body);
    this.jobs.add(job.id);
    let left = false;
    const bar = /** @type {HTMLProgressElement} */ (h('progress', { 'aria-label': label }));
    const time = h('span', { class: 'dim' });
    const cancel = h(
      'button',
      {
        type: 'button',
        class: 'danger',
        onclick: () => {
          cancel.setAttribute('disabled', '');
          left = true;
          this.leave(job.id);
        },
      },
      'Cancel',
    );
    const pane = h('div', { class: 'progress', role: 'status' }, h('span', {}, label), bar, time, cancel);
    for (let wait = 60; job.state === 'running'; wait = Math.min(500, wait * 1.5)) {
      if (job.seconds > 0.25 && !pane.isConnected) fill(box, pane);
      if (job.of > 0) {
        bar.max = job.of;
        bar.value = job.done;
      }
      time.textContent =
        (job.of > 0 ? `${job.done.toLocaleString('en')} of ${job.of.toLocaleString('en')} rows, ` : '') + `${job.seconds.toFixed(1)} s`;
      await new Promise((done) => setTimeout(done, wait));
      if (!box.isConnected && !left) {
        this.jobs.delete(job.id);
        this.leave(job.id);
        return null;
      }
      job = await this.send('GET', 'jobs/' + job.id);
    }
    this.jobs.delete(job.id);
    pane.remove();
    if (job.state === 'failed') throw new Error(job.error);
    return job.result;
  }
}

/** @param {unknown} error */
function problem(error) {
  return h('p', { class: 'problem', role: 'alert' }, shown(error instanceof Error ? error.message : String(error)));
}

/** @param {HTMLElement} app */
async function serve(app) {
  const given = location.hash.slice(1);
  if (given) {
    sessionStorage.setItem('token', given);
    history.replaceState(null, '', location.pathname);
  }
  const connection = new Connection(sessionStorage.getItem('token') ?? '');
  fill(app, h('main', { id: 'main' }, h('p', { class: 'nothing' }, 'Reading the cluster …')));
  try {
    const data = /** @type {PageData} */ (await connection.send('GET', 'page'));
    new Desk(connection, data, app).draw();
  } catch (error) {
    fill(
      app,
      h(
        'main',
        { id: 'main' },
        h('h1', {}, 'podreach'),
        problem(error),
        h('p', {}, 'Open the address that ', h('code', {}, 'podreach serve'), ' printed, with everything after the #.'),
      ),
    );
  }
}

/** The page with its state: what is selected, and what was changed. */
class Desk {
  /** @param {Connection} connection @param {PageData} data @param {HTMLElement} app */
  constructor(connection, data, app) {
    this.connection = connection;
    this.data = data;
    this.app = app;
    this.cluster = new Cluster(data.cluster);
    /** @type {Edit[]} */ this.edits = [];
    /** @type {string | null} */ this.pod = null;
    /** @type {string | null} */ this.node = null;
    this.tab = 'ask';
    /** @type {Set<string>} */ this.flipped = new Set();
    this.question = h('div', { class: 'part', 'aria-live': 'polite' });
    this.result = h('div', { class: 'result' });
    this.changed = h('div', {});
  }

  draw() {
    document.title = `podreach: ${shown(this.data.title)}`;
    const tabs = /** @type {[string, string][]} */ ([
      ['ask', 'Ask'],
      ['matrix', 'Matrix'],
      ['sandbox', 'Sandbox'],
    ]);
    const panel = h('div', { role: 'tabpanel', id: 'panel', 'aria-labelledby': 'tab-' + this.tab }, this.panel());
    const choose = (/** @type {string} */ tab) => {
      this.tab = tab;
      this.draw();
      document.getElementById('tab-' + tab)?.focus();
    };
    const bar = h(
      'div',
      {
        class: 'tabs',
        role: 'tablist',
        'aria-label': 'Views',
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
          const at = tabs.findIndex(([tab]) => tab === this.tab),
            step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
          if (step) choose(tabs[(at + step + tabs.length) % tabs.length][0]);
        },
      },
      tabs.map(([tab, text]) =>
        h(
          'button',
          {
            type: 'button',
            role: 'tab',
            id: 'tab-' + tab,
            'aria-controls': 'panel',
            'aria-selected': String(tab === this.tab),
            tabindex: tab === this.tab ? '0' : '-1',
            onclick: () => choose(tab),
          },
          text,
        ),
      ),
    );
    this.drawChanges();
    fill(
      this.app,
      header(this.data),
      h(
        'main',
        { id: 'main', tabindex: '-1' },
        h('h1', { class: 'hide' }, 'podreach'),
        bar,
        this.changed,
        panel,
        assumedView(this.data.assumptions),
        remarksView(this.data.diagnostics),
      ),
      footer(this.data),
    );
  }

  panel() {
    if (this.tab === 'matrix') return this.matrixPanel();
    if (this.tab === 'sandbox') return this.sandboxPanel();
    return this.askPanel();
  }

  /** The changes that are in force, wherever one is. */
  drawChanges() {
    if (this.edits.length === 0) return fill(this.changed);
    fill(
      this.changed,
      h(
        'div',
        { class: 'part' },
        h('h2', {}, 'In the sandbox'),
        h(
          'ul',
          { class: 'edits' },
          this.edits.map((edit, at) =>
            h(
              'li',
              {},
              shown(told(edit)),
              h(
                'button',
                {
                  type: 'button',
                  'aria-label': 'Undo: ' + shown(told(edit)),
                  onclick: () => void this.change(this.edits.filter((_, other) => other !== at)),
                },
                icon('no'),
              ),
            ),
          ),
        ),
        h(
          'p',
          { class: 'exports' },
          h('button', { type: 'button', class: 'primary', onclick: () => void this.flips() }, 'Which verdicts flip?'),
          h('button', { type: 'button', onclick: () => void this.change([]) }, 'Undo everything'),
        ),
        this.result,
      ),
    );
  }

  /** Puts other changes in force, unless they make no sense. @param {Edit[]} edits @returns {Promise<HTMLElement | null>} */
  async change(edits) {
    try {
      const cluster = await this.connection.send('POST', 'cluster', { edits });
      this.edits = edits;
      this.cluster = new Cluster(cluster);
      this.flipped = new Set();
      if (!this.cluster.data.nodes.some(([text]) => text === this.node)) this.node = null;
      fill(this.result);
      this.draw();
      /** @type {HTMLElement | null} */ (
        this.changed.querySelector('button.primary') ?? this.changed.ownerDocument.getElementById('tab-' + this.tab)
      )?.focus();
      return null;
    } catch (error) {
      return problem(error);
    }
  }

  askPanel() {
    const box = h('div', { class: 'scroll types', role: 'group', 'aria-label': 'Pod types', tabindex: '0' });
    const list = virtual(box);
    let search = '';
    /** @type {number[]} */ let rows = [];
    const show = () => {
      rows = this.cluster.pods.map((_, pod) => pod).filter((pod) => !search || found(this.cluster.pod(pod).name, search));
      rows.sort((a, b) => this.cluster.pod(a).name.localeCompare(this.cluster.pod(b).name));
      if (rows.length === 0) return list.show([72], () => h('p', { class: 'nothing' }, 'No pod type matches.'));
      list.show(
        rows.map(() => 38),
        (index) => {
          const type = this.cluster.pod(rows[index]);
          return h(
            'div',
            { class: 'step' },
            h(
              'button',
              {
                type: 'button',
                class: 'link',
                'aria-pressed': String(type.name === this.pod),
                'aria-current': type.name === this.pod ? 'true' : null,
                title: shown(type.says.join('\n')),
                onclick: () => {
                  this.pod = type.name;
                  list.redraw();
                  void this.drawQuestion();
                },
              },
              h('span', { class: 'grow' }, podName(type.name)),
              h('span', { class: 'dim small' }, String(this.cluster.running.total(rows[index]) || '')),
            ),
          );
        },
      );
    };
    const view = clusterView(this.cluster, {
      counts: this.cluster.running,
      look: (node) => ({ selected: this.cluster.nodeName(node) === this.node }),
      open: (node) => {
        this.node = this.cluster.nodeName(node);
        view.redraw();
        void this.drawQuestion();
      },
    });
    requestAnimationFrame(show);
    void this.drawQuestion();
    return h(
      'div',
      { class: 'part' },
      this.question,
      h(
        'div',
        { class: 'ask' },
        h(
          'div',
          { class: 'cluster' },
          h('h2', {}, 'Pod types'),
          h(
            'div',
            { class: 'tools' },
            searchBox('Search pod types', (text) => {
              search = text;
              show();
            }),
          ),
          h('p', { class: 'dim' }, number(this.cluster.pods.length, 'pod type')),
          box,
        ),
        h('div', { class: 'cluster' }, h('h2', {}, 'Nodes'), view.element),
      ),
    );
  }

  /** The question as it stands, and what each rule says right now. */
  async drawQuestion() {
    const { pod, node } = this;
    if (!pod || !node) {
      const missing = pod
        ? 'Now choose a node.'
        : node
          ? 'Now choose a pod type.'
          : 'Choose a pod type and a node to ask whether it can ever run there.';
      return fill(this.question, h('p', { class: 'nothing' }, missing));
    }
    const answer = h('div', { class: 'asked-answer' });
    const ask = h('button', { type: 'button', class: 'primary', onclick: () => void this.ask(answer) }, 'Can it ever?');
    const rules = h('div', {}, h('p', { class: 'dim' }, '…'));
    fill(
      this.question,
      h('div', { class: 'asked' }, h('h2', { class: 'question' }, 'Can ', podName(pod), ' ever run on ', named(node), '?'), ask),
      answer,
      h('h3', {}, 'Right now'),
      rules,
    );
    try {
      const why = /** @type {WhyData} */ (await this.connection.send('POST', 'why', { pod, node, edits: this.edits }));
      if (pod !== this.pod || node !== this.node) return;
      const { rules: said, feasible } = why.nodes[node];
      const refusing = Object.entries(said).filter(([, { ok }]) => !ok),
        accepting = Object.entries(said).filter(([, { ok }]) => ok);
      fill(
        rules,
        h('p', {}, feasible ? 'Every rule accepts it.' : 'It is refused:'),
        refusing.length > 0 &&
          h(
            'table',
            { class: 'why' },
            h(
              'tbody',
              {},
              refusing.map(([rule, { reason }]) =>
                h('tr', {}, h('th', { scope: 'row' }, icon('no'), ' ', rule), h('td', {}, shown(reason ?? ''))),
              ),
            ),
          ),
        h(
          'ul',
          { class: 'accepting', 'aria-label': 'Rules that accept it' },
          accepting.map(([rule]) => h('li', {}, icon('yes'), ' ', rule)),
        ),
        (why.doubts ?? []).map((doubt) => h('p', { class: 'reason' }, shown(doubt))),
      );
    } catch (error) {
      fill(rules, problem(error));
    }
  }

  /** @param {HTMLElement} box */
  async ask(box) {
    const body = { pod: this.pod, node: this.node, edits: this.edits };
    try {
      const result = await this.connection.run('ask', body, box, 'Deciding');
      if (result) fill(box, answerView(this.cluster, result.answer), this.exports(body, result.files));
    } catch (error) {
      fill(box, problem(error));
    }
  }

  /** What can be taken away; each file is made when it is asked for. @param {object} body @param {string[]} files */
  exports(body, files) {
    const labels = /** @type {Record<string, string>} */ ({
      'question.yaml': 'question',
      'policy.yaml': 'policy rule',
      'run.mmd': 'run as Mermaid',
      'run.svg': 'run as SVG',
      'run.itf.json': 'run as ITF',
      'report.html': 'report',
    });
    const box = h('span', {});
    const save = async (/** @type {string} */ file) => {
      try {
        const made = await this.connection.run('file', { ...body, file }, box, 'Writing');
        if (made) {
          fill(box);
          download(file, made[file], file.endsWith('.html') ? 'text/html' : 'text/plain');
        }
      } catch (error) {
        fill(box, problem(error));
      }
    };
    return h(
      'p',
      { class: 'exports' },
      h('span', { class: 'dim' }, 'Save the'),
      files.map((file) => h('button', { type: 'button', onclick: () => void save(file) }, labels[file] ?? file)),
      box,
    );
  }

  matrixPanel() {
    const box = h('div', { class: 'part' }),
      waiting = h('div', {});
    const show = async () => {
      try {
        const matrix = /** @type {MatrixData | null} */ (
          await this.connection.run('matrix', { edits: this.edits }, box, 'Deciding every pair')
        );
        if (!matrix) return;
        fill(
          box,
          h('h2', {}, 'Where can each pod ever run?'),
          matrixView(this.cluster, matrix, {
            evidence: async (row, cls) => {
              const body = {
                pod: this.cluster.pod(matrix.rows[row][0]).name,
                node: this.cluster.nodeName(matrix.classes[cls][0]),
                edits: this.edits,
              };
              return (await this.connection.run('ask', body, waiting, 'Deciding'))?.answer ?? null;
            },
            command: (pod, node) => `podreach check -f FILE ${pod} ${node}`,
          }),
          waiting,
        );
      } catch (error) {
        fill(box, problem(error), h('p', {}, h('button', { type: 'button', onclick: () => void show() }, 'Try again')));
      }
    };
    fill(box, h('p', { class: 'nothing' }, 'Deciding every pair …'));
    void show();
    return box;
  }

  /** Which verdicts the changes flip. */
  async flips() {
    fill(this.result, h('p', { class: 'dim' }, 'Comparing …'));
    try {
      const found = /** @type {{flips: Flip[], all: number, stopped: string | null} | null} */ (
        await this.connection.run('flips', { edits: this.edits }, this.result, 'Deciding every pair, before and after')
      );
      if (!found) return undefined;
      const { flips, all, stopped } = found;
      if (all === 0 && !stopped) return fill(this.result, h('p', { class: 'nothing' }, 'No verdict changes.'));
      const rows = flips
        .slice(0, 300)
        .map((flip) =>
          h(
            'tr',
            { 'data-flip': `${flip.pod} ${flip.node} ${flip.from} ${flip.to}` },
            h('td', {}, podName(flip.pod)),
            h('td', {}, named(flip.node)),
            h('td', {}, flip.from === 'absent' ? h('span', { class: 'dim' }, 'not there') : verdictBadge(flip.from)),
            h('td', {}, flip.to === 'absent' ? '' : verdictBadge(flip.to)),
          ),
        );
      fill(
        this.result,
        stopped && partial(stopped),
        h('h3', {}, number(all, 'verdict'), all === 1 ? ' changes' : ' change'),
        h(
          'table',
          { class: 'flips' },
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              ['Pod type', 'Node', 'Before', 'After'].map((text) => h('th', { scope: 'col' }, text)),
            ),
          ),
          h('tbody', {}, rows),
        ),
        all > rows.length && h('p', { class: 'dim' }, `and ${number(all - rows.length, 'more change')}`),
      );
    } catch (error) {
      fill(this.result, problem(error));
    }
    return undefined;
  }

  sandboxPanel() {
    const nodes = this.cluster.data.nodes.map(([text]) => text),
      pods = this.cluster.pods.map((type) => type.name);
    const effects = ['NoSchedule', 'NoExecute', 'PreferNoSchedule'];
    const kinds = /** @type {[title: string, op: string, fields: [field: string, label: string, choices: string[] | null][]][]} */ ([
      [
        'Label a node',
        'label',
        [
          ['node', 'node', nodes],
          ['key', 'label', null],
          ['value', 'value', null],
        ],
      ],
      [
        'Taint a node',
        'taint',
        [
          ['node', 'node', nodes],
          ['key', 'taint', null],
          ['value', 'value', null],
          ['effect', 'effect', effects],
        ],
      ],
      [
        'Remove a taint',
        'untaint',
        [
          ['node', 'node', nodes],
          ['key', 'taint', null],
        ],
      ],
      [
        'Remove a label',
        'unlabel',
        [
          ['node', 'node', nodes],
          ['key', 'label', null],
        ],
      ],
      [
        'Add a toleration',
        'tolerate',
        [
          ['pod', 'pod', pods],
          ['key', 'taint', null],
          ['value', 'value', null],
          ['effect', 'effect', ['', ...effects]],
        ],
      ],
      [
        'Add a node like another',
        'add-node',
        [
          ['node', 'like', nodes],
          ['name', 'name', null],
        ],
      ],
      ['Cordon a node', 'cordon', [['node', 'node', nodes]]],
      ['Delete a workload', 'delete', [['pod', 'pod', pods]]],
    ]);
    return h(
      'div',
      { class: 'part' },
      h('h2', {}, 'Change something'),
      h(
        'p',
        { class: 'dim' },
        'Nothing leaves this page: the cluster stays as it is. What you change here holds for every question you ask, until you undo it.',
      ),
      h(
        'div',
        { class: 'forms' },
        kinds.map(([title, op, fields]) => this.form(title, op, fields)),
      ),
      suggestions('nodes', nodes),
      suggestions('pods', pods),
      suggestions('keys', this.keys()),
    );
  }

  keys() {
    return [
      ...new Set([
        ...this.cluster.keys(),
        ...this.cluster.data.forms.flatMap((form) => form.taints.map((taint) => taint.split(/[=:]/)[0])),
      ]),
    ];
  }

  /** @param {string} title @param {string} op @param {[string, string, string[] | null][]} fields */
  form(title, op, fields) {
    const message = h('div', {});
    const inputs = fields.map(([key, label, choices]) => {
      const few = choices !== null && choices.length <= 4;
      const list = choices === null ? (key === 'key' ? 'keys' : null) : key === 'pod' ? 'pods' : 'nodes';
      const input = few
        ? h(
            'select',
            { name: key },
            choices.map((text) => h('option', { value: text }, text || 'any')),
          )
        : h('input', { type: 'text', name: key, list, autocomplete: 'off', spellcheck: 'false', required: key !== 'value' });
      return field(label, input);
    });
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault();
      /** @type {Edit} */ const edit = { op };
      for (const [key, value] of new FormData(/** @type {HTMLFormElement} */ (event.target))) {
        if (String(value).trim() !== '' || (op === 'label' && key === 'value')) Object.assign(edit, { [key]: String(value).trim() });
      }
      const refused = await this.change([...this.edits, edit]);
      if (refused) fill(message, refused);
    };
    return h(
      'form',
      { onsubmit: submit, 'data-op': op },
      h('h3', {}, title),
      inputs,
      h('button', { type: 'submit' }, title.split(' ')[0]),
      message,
    );
  }
}

/** What a field may be filled with. @param {string} id @param {string[]} values */
function suggestions(id, values) {
  return h(
    'datalist',
    { id },
    values.slice(0, 500).map((value) => h('option', { value })),
  );
}

/** A change in words. @param {Edit} edit */
function told(edit) {
  const value = edit.value ? '=' + edit.value : '',
    effect = edit.effect ? ':' + edit.effect : '';
  const words = /** @type {Record<string, string>} */ ({
    label: `${edit.node} has the label ${edit.key}${value || '='}`,
    unlabel: `${edit.node} loses the label ${edit.key}`,
    taint: `${edit.node} has the taint ${edit.key}${value}${effect}`,
    untaint: `${edit.node} loses the taint ${edit.key}`,
    tolerate: `${short(edit.pod ?? '')} tolerates ${edit.key}${value}${effect}`,
    'add-node': `there is a node ${edit.name} like ${edit.node}`,
    cordon: `${edit.node} is cordoned`,
    uncordon: `${edit.node} is not cordoned`,
    delete: `${short(edit.pod ?? '')} is deleted`,
  });
  return words[edit.op] ?? edit.op;
}
