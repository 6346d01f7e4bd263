// Every page works without this script. It keeps pages up to date, and adds keys.
"use strict";
(() => {
  const page = document.body.dataset;
  const byId = (id) => document.getElementById(id);

  // The login link carries its word after the "#", which no server's log sees.
  const login = byId("login");
  if (login) {
    if (location.hash.length > 1) {
      byId("link").value = location.href;
      history.replaceState(null, "", location.pathname);
      login.submit();
    }
    return;
  }

  // Keys. Nothing is done while somebody types.
  let at = -1;
  const cards = () => [...document.querySelectorAll("#list .card")];
  const mark = (next) => {
    const all = cards();
    if (all.length === 0) return;
    at = Math.max(0, Math.min(next, all.length - 1));
    all.forEach((card, i) => card.classList.toggle("at", i === at));
    const link = all[at].querySelector(".cover");
    link.focus({ preventScroll: true });
    all[at].scrollIntoView({ block: "nearest" });
  };
  const help = byId("help");
  const showHelp = () => help && !help.open && help.showModal();
  if (byId("help-open")) {
    byId("help-open").hidden = false;
    byId("help-open").addEventListener("click", showHelp);
  }
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || (help && help.open)) return;
    if (e.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select")) return;
    switch (e.key) {
      case "j": mark(at + 1); break;
      case "k": mark(at - 1); break;
      case "u": location.assign("/"); break;
      case "/": if (!byId("search")) return; byId("search").focus(); break;
      case "?": showHelp(); break;
      default: return;
    }
    e.preventDefault();
  });
  document.addEventListener("focusin", (e) => {
    const card = e.target.closest("#list .card");
    if (card) at = cards().indexOf(card);
  });

  // An option that needs a comment makes the comment required.
  const form = byId("answer");
  const comment = form && form.elements.comment;
  if (comment) {
    const need = () => { comment.required = !!form.querySelector("input[data-comment]:checked"); };
    form.addEventListener("change", need);
    need();
  }
  if (form) form.addEventListener("submit", () => { form.dataset.sent = "yes"; form.querySelector(".primary").disabled = true; });
  addEventListener("pageshow", () => { if (form) { delete form.dataset.sent; form.querySelector(".primary").disabled = byId("fields").disabled; } });

  // Live updates: what the server shows now takes the place of what it showed.
  if (!byId("live") || !window.EventSource || !byId("live-region")) return;
  const replace = (fresh) => {
    const region = byId("live-region");
    const focused = document.activeElement && document.activeElement.closest("#live-region .card");
    const id = focused && focused.dataset.id;
    const known = new Set(cards().map((card) => card.dataset.id));
    const opened = new Set([...region.querySelectorAll("details")].map((d, i) => (d.open ? i : -1)));
    const next = fresh.getElementById("live-region");
    [...next.querySelectorAll("details")].forEach((d, i) => { d.open = opened.has(i) || d.open; });
    if (known.size > 0) next.querySelectorAll(".card").forEach((card) => card.classList.toggle("new", !known.has(card.dataset.id)));
    region.replaceWith(next);
    const count = fresh.getElementById("count");
    if (count && byId("count")) { byId("count").textContent = count.textContent; byId("count").hidden = count.hidden; }
    if (id) {
      const i = cards().findIndex((card) => card.dataset.id === id);
      if (i >= 0) mark(i); else mark(at);
    }
  };
  const answeredElsewhere = (fresh) => {
    if (!form || form.dataset.sent) return;
    const next = fresh.getElementById("answer");
    if (!next) {
      byId("fields").disabled = true;
      form.classList.add("over");
      byId("elsewhere").hidden = false;
      return;
    }
    // What is asked about has changed. The page shows it by now, and the form is still that
    // of before: its words stay, and the server takes no answer for what was shown then.
    if (next.elements.digest.value !== form.elements.digest.value) {
      byId("stale").hidden = false;
      form.querySelector(".primary").disabled = true;
    }
  };
  let running = false;
  let again = false;
  const refresh = async () => {
    if (running) { again = true; return; }
    running = true;
    try {
      do {
        again = false;
        const got = await fetch(location.pathname + location.search, { credentials: "same-origin", headers: { Accept: "text/html" } });
        if (got.redirected) { location.reload(); return; }
        const fresh = new DOMParser().parseFromString(await got.text(), "text/html");
        if (got.ok && fresh.getElementById("live-region")) { replace(fresh); answeredElsewhere(fresh); }
      } while (again);
    } catch { /* the next event tries again */ } finally { running = false; }
  };
  let timer = 0;
  const soon = () => { if (!timer) timer = setTimeout(() => { timer = 0; refresh(); }, 25); };
  const show = (on) => {
    const live = byId("live");
    live.hidden = false;
    live.classList.toggle("off", !on);
    live.textContent = on ? page.live : page.offline;
  };
  const query = page.run ? "?run=" + encodeURIComponent(page.run) : "";
  const events = new EventSource("/api/v1/events" + query);
  let begun = false;
  events.addEventListener("connection.established", () => { show(true); if (begun) soon(); begun = true; });
  events.addEventListener("error", () => show(false));
  for (const name of ["request", "transition", "reset"]) events.addEventListener(name, soon);
})();
