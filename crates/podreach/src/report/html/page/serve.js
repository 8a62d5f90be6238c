// @ts-check
/** @param {HTMLElement} app */
async function serve(app) { fill(app); }
