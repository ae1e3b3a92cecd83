// Applies the kept choice of theme before the first paint. Runs in the head,
// from a file of its own, because the page allows no inline script.
try {
  const kept = localStorage.getItem("fb-theme");
  if (kept === "light" || kept === "dark") document.documentElement.dataset.theme = kept;
} catch {
  // Storage is turned off: the system's choice holds.
}
