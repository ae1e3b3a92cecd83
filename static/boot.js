// Loads the WebAssembly and wakes the islands, one after the other, then marks
// the document as hydrated. The page reads and works without any of it.
const root = document.documentElement;

async function wake(node, module) {
  if (node.tagName === "LEPTOS-ISLAND") {
    const island = module[node.dataset.component];
    if (island) await island(node);
    else console.warn("unknown island", node.dataset.component);
  }
  for (const child of node.children) await wake(child, module);
}

async function boot() {
  const module = await import(root.dataset.js);
  await module.default({ module_or_path: root.dataset.wasm });
  module.hydrate();
  await wake(document.body, module);
  root.dataset.hydrated = "true";
}

// Never in the way of the first paint.
if ("requestIdleCallback" in window) requestIdleCallback(boot, { timeout: 2000 });
else boot();
