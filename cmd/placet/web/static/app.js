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
  const forms = () => [...document.querySelectorAll("form.answer")];
  const prepare = (form) => {
    const comment = form.elements.comment;
    if (comment) {
      const need = () => { comment.required = !!form.querySelector("input[data-comment]:checked"); };
      form.addEventListener("change", need);
      need();
    }
    form.addEventListener("submit", () => { form.dataset.sent = "yes"; form.querySelector(".primary").disabled = true; });
  };
  forms().forEach(prepare);
  addEventListener("pageshow", () => forms().forEach((form) => {
    delete form.dataset.sent;
    form.querySelector(".primary").disabled = form.querySelector(".fields").disabled;
  }));

  // Live updates: what the server shows now takes the place of what it showed.
  if (!byId("live") || !window.EventSource || !byId("live-region")) return;
  const replaceRegion = (region, next) => {
    const inside = (el) => el && region.contains(el);
    const focused = inside(document.activeElement) ? document.activeElement : null;
    const focus = focused && (focused.id ? "#" + CSS.escape(focused.id) : focused.closest("[id]") && focused.closest("[id]") !== region && focused.matches("summary") ? "#" + CSS.escape(focused.closest("[id]").id) + " summary" : "");
    // What somebody opened stays open; a part of the run that has a name stays closed, too,
    // unless it is another thing to look at by now.
    const opened = new Set([...region.querySelectorAll("details")].map((d, i) => (d.open ? i : -1)));
    const parts = new Map([...region.querySelectorAll(".part > details")].map((d) => [d.parentElement.id, d]));
    [...next.querySelectorAll("details")].forEach((d, i) => {
      const before = parts.get(d.parentElement.id);
      if (!d.parentElement.matches(".part")) d.open = opened.has(i) || d.open;
      else if (before && before.dataset.open === d.dataset.open) d.open = before.open;
    });
    const graph = region.querySelector(".graph");
    const left = graph ? graph.scrollLeft : 0;
    region.replaceWith(next);
    if (left) next.querySelector(".graph")?.scrollTo({ left, behavior: "instant" });
    if (focus) next.querySelector(focus)?.focus({ preventScroll: true });
  };
  const replace = (fresh) => {
    const focused = document.activeElement && document.activeElement.closest("#live-region .card");
    const id = focused && focused.dataset.id;
    const known = new Set(cards().map((card) => card.dataset.id));
    if (known.size > 0) fresh.querySelectorAll("#list .card").forEach((card) => card.classList.toggle("new", !known.has(card.dataset.id)));
    for (const region of [byId("live-region"), byId("live-more")]) {
      const next = region && fresh.getElementById(region.id);
      if (next) replaceRegion(region, next);
    }
    const count = fresh.getElementById("count");
    if (count && byId("count")) { byId("count").textContent = count.textContent; byId("count").hidden = count.hidden; }
    if (id) {
      const i = cards().findIndex((card) => card.dataset.id === id);
      if (i >= 0) mark(i); else mark(at);
    }
  };

  // The words that somebody types are never replaced. What was answered elsewhere greys out;
  // what is asked about something that has changed takes no answer until it is as it was, as
  // the server would not.
  const settle = (form, next, outdated, elsewhere, stale) => {
    if (form.dataset.sent) return;
    if (!next && !outdated) {
      form.querySelector(".fields").disabled = true;
      form.classList.add("over");
      elsewhere.hidden = false;
      return;
    }
    const same = next && next.elements.digest.value === form.elements.digest.value;
    stale.hidden = Boolean(same);
    form.querySelector(".primary").disabled = !same;
  };
  const settleForms = (fresh) => {
    const form = byId("answer");
    const later = fresh.getElementById("answer");
    if (!form && later && document.querySelector(".outdated")) { location.reload(); return; }
    if (form) settle(form, later, fresh.querySelector(".outdated"), byId("elsewhere"), byId("stale"));
    const asks = byId("asks");
    if (!asks) return;
    const next = new Map([...fresh.querySelectorAll("#asks .ask")].map((ask) => [ask.dataset.ask, ask]));
    for (const ask of asks.querySelectorAll(".ask")) {
      const same = next.get(ask.dataset.ask);
      next.delete(ask.dataset.ask);
      const form = ask.querySelector("form.answer");
      if (form) settle(form, same && same.querySelector("form.answer"), same && same.querySelector(".outdated"), ask.querySelector(".elsewhere"), ask.querySelector(".stale"));
      else if (!same) ask.remove();
      else if (same.querySelector("form.answer")) {
        ask.replaceWith(same);
        same.querySelectorAll("form.answer").forEach(prepare);
      }
    }
    for (const ask of next.values()) {
      asks.append(ask);
      ask.querySelectorAll("form.answer").forEach(prepare);
    }
    asks.hidden = asks.querySelectorAll(".ask").length === 0;
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
        if (got.ok && fresh.getElementById("live-region")) { replace(fresh); settleForms(fresh); }
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

  // The progress of a worker changes its own bar alone, once a frame at most. A worker without
  // a bar has just begun.
  const latest = new Map();
  const draw = () => {
    const bars = new Map([...document.querySelectorAll("#live-region .worker")].map((bar) => [bar.dataset.session, bar]));
    for (const [session, now] of latest) {
      const bar = bars.get(session);
      if (!bar) { soon(); continue; }
      const percent = Math.floor(Math.min(Math.max(now.progress, 0), 1) * 100);
      const of = Number(bar.dataset.of);
      const set = (selector, text) => { const el = bar.querySelector(selector); if (el.textContent !== text) el.textContent = text; };
      bar.querySelector("progress").value = percent;
      set(".percent", percent + " %");
      set(".task", now.current_task);
      set(".tokens", bar.dataset.tokens.replace("{used}", now.tokens_used));
      bar.classList.toggle("near", of > 0 && now.tokens_used * 100 >= of * 90);
    }
    latest.clear();
  };
  const progress = (e) => {
    const now = JSON.parse(e.data).data;
    if (latest.size === 0) requestAnimationFrame(draw);
    latest.set(now.session_id, now);
  };
  const names = ["request", "transition"];
  if (page.page === "run") names.push("worker.progress");
  const query = "?filter=" + names + (page.run ? "&run=" + encodeURIComponent(page.run) : "");
  const events = new EventSource("/api/v1/events" + query);
  let begun = false;
  events.addEventListener("connection.established", () => { show(true); if (begun) soon(); begun = true; });
  events.addEventListener("error", () => show(false));
  for (const name of ["request", "transition", "reset"]) events.addEventListener(name, soon);
  events.addEventListener("worker.progress", progress);
})();
