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
  const cards = () => [...document.querySelectorAll("#list .card:not([hidden])")];
  const mark = (next) => {
    const all = cards();
    if (all.length === 0) return;
    at = Math.max(0, Math.min(next, all.length - 1));
    all.forEach((card, i) => card.classList.toggle("at", i === at));
    const link = all[at].querySelector(".cover");
    link.focus({ preventScroll: true });
    all[at].scrollIntoView({ block: "nearest" });
  };
  // On the page of a question, j and k lead to the next one of the list that was looked at last.
  const seen = "placet.list";
  const step = (by) => {
    if (byId("list") || !page.request) return mark(at + by);
    const all = JSON.parse(sessionStorage.getItem(seen) || "[]");
    const here = all.indexOf(location.pathname);
    const next = here < 0 ? undefined : all[here + by];
    if (next) location.assign(next);
  };
  const remember = () => {
    if (byId("list")) sessionStorage.setItem(seen, JSON.stringify(cards().map((card) => new URL(card.querySelector(".cover").href).pathname)));
  };
  remember();

  // The list is narrowed while somebody types.
  const search = byId("search");
  const narrow = () => {
    const words = search.value.trim().toLowerCase();
    document.querySelectorAll("#list .card").forEach((card) => { card.hidden = !card.textContent.toLowerCase().includes(words); });
    document.querySelectorAll("#list .group").forEach((group) => { group.hidden = !group.querySelector(".card:not([hidden])"); });
    if (byId("none")) byId("none").hidden = cards().length > 0;
  };
  if (search) search.addEventListener("input", () => { narrow(); remember(); });
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
      case "j": step(1); break;
      case "k": step(-1); break;
      case "u": if (pending) drop(); else location.assign("/"); break;
      case "a": if (e.repeat || !press("yes")) return; break;
      case "r": if (e.repeat || !press("no")) return; break;
      case "c": if (!byId("answer")?.elements.comment) return; byId("answer").elements.comment.focus(); break;
      case "Enter": if (!pending || e.target.closest("#undo")) return; if (!e.repeat) send(); break;
      case "Escape": if (!pending) return; drop(); break;
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

  // A press on a button is sent after five seconds, unless it is taken back. Nothing is sent from
  // a page that is left before.
  let pending = null;
  const undo = byId("undo");
  const drop = () => {
    if (!pending) return;
    clearInterval(pending.timer);
    pending.buttons.forEach((b) => b.removeAttribute("aria-pressed"));
    const back = undo.contains(document.activeElement) && pending.button;
    pending = null;
    undo.hidden = true;
    undo.querySelector("[role=status]").textContent = "";
    if (back) back.focus();
  };
  const send = () => {
    const form = pending && pending.form;
    drop();
    if (form && !form.querySelector(".primary").disabled) form.requestSubmit(form.querySelector(".primary"));
  };
  // After an answer the next question comes, and the second half of a double click must not answer it.
  const fresh = location.search.includes("after=") ? performance.now() + 1000 : 0;
  const hold = (form, input, button) => {
    if (performance.now() < fresh) return;
    if (form.dataset.sent || form.querySelector(".primary").disabled || (pending && pending.input === input)) return;
    drop();
    input.checked = true;
    form.dispatchEvent(new Event("change"));
    if (!form.reportValidity()) return;
    let left = 5;
    const tick = () => { if (left === 0) send(); else byId("undo-left").textContent = left--; };
    const buttons = [...document.querySelectorAll(".press")].filter((b) => b.dataset.option === input.value && b.form === form);
    pending = { form, input, button, buttons, timer: setInterval(tick, 1000) };
    buttons.forEach((b) => b.setAttribute("aria-pressed", "true"));
    undo.hidden = false;
    undo.querySelector("[role=status]").textContent = undo.querySelector("[role=status]").dataset.pattern.replace("{option}", input.closest(".option").querySelector(".option-label").textContent);
    tick();
  };
  if (undo) {
    byId("undo-it").addEventListener("click", drop);
    byId("undo-now").addEventListener("click", send);
    addEventListener("beforeunload", (e) => { if (pending) e.preventDefault(); });
  }
  const press = (role) => {
    const form = byId("answer");
    const option = form && form.querySelector(`.option[data-role="${role}"] input`);
    if (!option || option.disabled) return false;
    if ("quick" in form.dataset) hold(form, option, form.querySelector(".press." + role));
    else { option.click(); option.focus(); }
    return true;
  };

  // The options that agree and refuse become buttons, with their effects below them; on a small
  // screen also in the bar at the bottom.
  const quicken = (form) => {
    const row = document.createElement("div");
    row.className = "presses";
    for (const role of ["yes", "no"]) {
      const option = form.querySelector(`.option[data-role="${role}"]`);
      const input = option.querySelector("input");
      const cell = document.createElement("div");
      const button = document.createElement("button");
      button.type = "button";
      button.className = "press " + role;
      button.dataset.option = input.value;
      button.setAttribute("form", form.id);
      button.textContent = option.querySelector(".option-label").textContent;
      button.append(...[...option.querySelectorAll("code")].map((el) => el.cloneNode(true)));
      cell.append(button, ...[...option.querySelectorAll(".effect, .faint, .describes")].map((el) => el.cloneNode(true)));
      row.append(cell);
      option.hidden = true;
    }
    const bar = form.id === "answer" && document.querySelector(".actbar");
    if (bar) bar.replaceChildren(row.cloneNode(true));
    for (const place of bar ? [row, bar] : [row]) {
      place.addEventListener("click", (e) => {
        const button = e.target.closest(".press");
        if (button) hold(form, form.querySelector(`.option[data-role="${button.classList.contains("yes") ? "yes" : "no"}"] input`), button);
      });
    }
    if (bar) new IntersectionObserver((seen) => bar.classList.toggle("away", seen.at(-1).isIntersecting)).observe(row);
    const options = form.querySelector(".options");
    options.before(row);
    const others = options.querySelector(".option:not([hidden])");
    form.querySelector(".primary").hidden = !others;
  };

  // A combination that is not allowed cannot be ticked, and an option that needs a comment makes
  // the comment required.
  const limit = (form) => {
    const options = [...form.querySelectorAll("input[name=option]")];
    const chosen = options.filter((input) => input.checked);
    const has = (name) => chosen.some((input) => name in input.dataset);
    if (form.elements.comment) form.elements.comment.required = has("comment");
    if (options.some((input) => "alone" in input.dataset)) {
      options.forEach((input) => { input.disabled = !input.checked && chosen.length > 0 && (has("alone") || "alone" in input.dataset); });
    }
    if (form.elements.attempts) form.elements.attempts.disabled = !has("attempts");
    const items = form.querySelector(".items");
    if (!items) return;
    items.disabled = "with" in items.dataset && !has("items");
    const all = [...items.querySelectorAll("input")];
    const most = Number(items.dataset.most || 0);
    const full = most > 0 && all.filter((input) => input.checked).length >= most;
    all.forEach((input) => { input.disabled = full && !input.checked; });
  };
  const forms = () => [...document.querySelectorAll("form.answer")];
  const prepare = (form) => {
    if ("quick" in form.dataset) quicken(form);
    form.addEventListener("change", () => limit(form));
    limit(form);
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
    if (search && search.value !== search.defaultValue) narrow();
    remember();
    const count = fresh.getElementById("count");
    if (count && byId("count")) { byId("count").textContent = count.textContent; byId("count").hidden = count.hidden; }
    if (id) {
      const i = cards().findIndex((card) => card.dataset.id === id);
      if (i >= 0) mark(i); else mark(at);
    }
  };

  const pressable = (form, can) => document.querySelectorAll(".press").forEach((b) => { if (b.form === form) b.disabled = !can; });

  // The words that somebody types are never replaced. What was answered elsewhere greys out;
  // what is asked about something that has changed takes no answer until it is as it was, as
  // the server would not.
  const settle = (form, next, outdated, elsewhere, stale) => {
    if (form.dataset.sent) return;
    if (!next && !outdated) {
      if (pending && pending.form === form) drop();
      pressable(form, false);
      form.querySelector(".fields").disabled = true;
      form.classList.add("over");
      elsewhere.hidden = false;
      return;
    }
    const same = next && next.elements.digest.value === form.elements.digest.value;
    if (!same && pending && pending.form === form) drop();
    stale.hidden = Boolean(same);
    form.querySelector(".primary").disabled = !same;
    pressable(form, same);
  };
  const settleForms = (fresh) => {
    const form = byId("answer");
    const later = fresh.getElementById("answer");
    if (!form && later) { location.reload(); return; }
    if (form) settle(form, later, fresh.querySelector(".outdated"), byId("elsewhere"), byId("stale"));
    const asks = byId("asks");
    if (!asks) return;
    const several = byId("together");
    const others = fresh.getElementById("together");
    if (several?.dataset.digests !== others?.dataset.digests) {
      several?.remove();
      // A form counts for what this page shows: it stays away while one of its questions is out of date.
      const shown = (input) => byId("ask-" + input.name.slice(7))?.querySelector("form.answer")?.elements.digest.value === input.value;
      if (others && [...others.querySelectorAll("[name^=digest-]")].every(shown)) {
        asks.querySelector("h2").after(others);
        others.querySelectorAll("form.answer").forEach(prepare);
      }
    }
    const next = new Map([...fresh.querySelectorAll("#asks .ask[data-ask]")].map((ask) => [ask.dataset.ask, ask]));
    for (const ask of asks.querySelectorAll(".ask[data-ask]")) {
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
    asks.hidden = !asks.querySelector(".ask");
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
