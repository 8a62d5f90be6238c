// @ts-check
// The cluster behind the page: names, amounts, and what runs where.

/** What runs: for each node, how many of each pod type. */
class Counts {
  /** @param {Exact[]} flat */
  constructor(flat) {
    /** @type {Map<number, Map<number, number>>} */ this.nodes = new Map();
    /** @type {Map<number, number> | null} */ this.totals = null;
    for (let at = 0; at < flat.length; at += 3) this.add(Number(flat[at]), Number(flat[at + 1]), Number(flat[at + 2]));
  }
  /** @param {number} pod @param {number} node @param {number} more */
  add(pod, node, more) {
    const on = this.nodes.get(node) ?? new Map();
    const count = (on.get(pod) ?? 0) + more;
    if (count > 0) on.set(pod, count);
    else on.delete(pod);
    this.nodes.set(node, on);
    this.totals = null;
  }
  /** @param {number} node @returns {[pod: number, count: number][]} */
  on(node) {
    return [...(this.nodes.get(node) ?? [])];
  }
  /** @param {number} pod @param {number} node */
  of(pod, node) {
    return this.nodes.get(node)?.get(pod) ?? 0;
  }
  /** How many of a pod type run anywhere. @param {number} pod */
  total(pod) {
    if (!this.totals) {
      this.totals = new Map();
      for (const on of this.nodes.values()) for (const [one, count] of on) this.totals.set(one, (this.totals.get(one) ?? 0) + count);
    }
    return this.totals.get(pod) ?? 0;
  }
}

class Cluster {
  /** @param {ClusterData} data */
  constructor(data) {
    this.data = data;
    /** @type {PodType[]} */ this.pods = [];
    for (const pod of data.pods) {
      if (typeof pod === 'number') this.pods.length += pod;
      else this.pods.push(pod);
    }
    this.running = new Counts(data.running);
    this.kept = new Counts(data.kept);
  }
  /** @param {number} pod */
  pod(pod) {
    return this.pods[pod];
  }
  /** @param {number} node */
  nodeName(node) {
    return this.data.nodes[node]?.[0] ?? 'no node';
  }
  /** @param {number} node @returns {Form} */
  form(node) {
    return this.data.forms[this.data.nodes[node][1]];
  }
  /** @param {number} node @param {string} key */
  label(node, key) {
    return this.form(node).labels.find(([k]) => k === key)?.[1];
  }
  /** @param {Atom} atom */
  atom([pod, node]) {
    return `${this.pod(pod).name} on ${this.nodeName(node)}`;
  }
  /** The pool that a node comes from which is not there yet. @param {number} node */
  comesFrom(node) {
    return this.form(node).comesFrom;
  }
  /** How many nodes there are, and how many of those listed are yet to come: `3 nodes and 2 that may come`. @param {number[]} nodes */
  counted(nodes) {
    const coming = nodes.filter((node) => this.comesFrom(node)).length;
    if (coming === 0) return number(nodes.length, 'node');
    if (coming === nodes.length) return `${number(coming, 'node')} that may come`;
    return `${number(nodes.length - coming, 'node')} and ${coming.toLocaleString('en')} that may come`;
  }
  /** All label keys of nodes. */
  keys() {
    return [...new Set(this.data.forms.flatMap((form) => form.labels.map(([key]) => key)))].sort();
  }

  /**
   * What a node has and what is taken of it, for each resource that it has or that its pods want.
   * @param {number} node @param {Counts} counts
   * @returns {{resource: number, used: bigint, all: bigint | null}[]} `all` is null where it is not known
   */
  usage(node, counts) {
    /** @type {Map<number, bigint>} */ const used = new Map();
    for (const [pod, count] of counts.on(node)) {
      for (const [resource, weight] of this.pod(pod).weights)
        used.set(resource, (used.get(resource) ?? 0n) + BigInt(weight) * BigInt(count));
    }
    /** @type {{resource: number, used: bigint, all: bigint | null}[]} */
    const rows = this.form(node).capacity.map(([resource, all]) => ({
      resource,
      used: used.get(resource) ?? 0n,
      all: all === null ? null : BigInt(all),
    }));
    for (const [resource, sum] of used) {
      if (!rows.some((row) => row.resource === resource)) rows.push({ resource, used: sum, all: 0n });
    }
    const rank = (/** @type {number} */ resource) => ['cpu', 'memory', 'pods'].indexOf(this.data.resources[resource].name) + 1 || 9;
    return rows.sort((a, b) => rank(a.resource) - rank(b.resource) || a.resource - b.resource);
  }

  /** An amount as Kubernetes writes it. @param {number} resource @param {bigint} amount */
  amount(resource, amount) {
    const unit = this.data.resources[resource].unit;
    if (unit === 'milli') return amount % 1000n === 0n ? String(amount / 1000n) : `${amount}m`;
    if (unit === 'count') return String(amount);
    const suffixes = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
    let at = 0;
    while (amount >= 1024n && amount % 1024n === 0n && at < 6) {
      amount /= 1024n;
      at++;
    }
    return amount + suffixes[at];
  }
}

/** How full something is, in percent. @param {bigint} used @param {bigint} all */
function percent(used, all) {
  if (all === 0n) return used > 0n ? 100 : 0;
  return Math.min(100, Number((used * 1000n) / all) / 10);
}
