import { Answering } from './answering.js';
import { Composer } from './composer.js';
import { Conversations } from './conversations.js';
import { askForKey, askForSettings, confirmDelete } from './dialogs.js';
import { byId, setText } from './dom.js';
import { icon } from './icons.js';
import { LiveState } from './live-state.js';
import { MemoryPanel } from './memory-panel.js';
import { kindOf } from './prompt.js';
import { Server } from './server.js';
import { Shelf } from './shelf.js';
import { theme, turnTheme } from './theme.js';
import { Transcript } from './transcript.js';
import { Welcome } from './welcome.js';

const server = new Server(askForKey);
const conversations = new Conversations();
const answering = new Answering(server, conversations);
const live = new LiveState(server);

/** The last known state: the model stays the same while the server is unreachable. */
let known = null;
let open = null;

const transcript = new Transcript({ askAgain, retry, extend });
const composer = new Composer({ onSend: ask, onStop: () => answering.stop(open) });
const shelf = new Shelf({
  open: show,
  begin,
  rename: (one, title) => conversations.rename(one, title),
  delete: remove,
});
const panel = new MemoryPanel(key => show(conversations.find(key)));
const welcome = new Welcome(text => {
  composer.write(text);
  byId('message').focus();
});

/** Returns the server's state, fetched if unknown, so that an error shows with the response. */
async function model() {
  return known ?? (await (await server.request('/kvasir/state')).json());
}

function ask(text) {
  notice('');
  conversations.addQuestion(open, text);
  showAddress();
  answering.answer(open, model);
  transcript.followEnd();
}

function askAgain(question, text) {
  conversations.cutBefore(open, question);
  ask(text);
  composer.focus();
}

function retry(answer) {
  conversations.cutBefore(open, answer);
  answering.answer(open, model);
  composer.focus();
}

function extend(answer) {
  answering.extend(open, answer, model);
  composer.focus();
}

function begin() {
  show(conversations.begin());
}

function show(conversation) {
  open = conversation;
  showAddress();
  notice('');
  shelf.close();
  composer.open(conversation.id);
  showAll();
  composer.focus();
}

/** A conversation has an address once it has a message. */
function showAddress() {
  const address = open.turns.length > 0 ? `#${open.id}` : location.pathname;
  if (address !== (location.hash || location.pathname)) {
    history.pushState(null, '', address);
  }
}

async function remove(conversation) {
  if (!(await confirmDelete(conversation))) {
    return;
  }
  const index = conversations.newestFirst().indexOf(conversation);
  answering.stop(conversation);
  conversations.delete(conversation);
  if (conversation === open) {
    begin();
  }
  shelf.focusNear(index);
  try {
    await server.request(`/kvasir/conversations/${encodeURIComponent(conversation.id)}`, { method: 'DELETE' });
  } catch (failure) {
    if (failure.status !== 404) {
      notice(`The server kept its cached prefixes: ${failure.message}`);
    }
  }
}

async function configure() {
  const settings = await askForSettings(open, known);
  if (settings) {
    conversations.configure(open, settings);
  }
}

/** Notices that belong to no response, above the message field. */
function notice(text) {
  setText(byId('notice'), text);
  byId('notice').hidden = text === '';
}

function announce(text) {
  byId('announcer').textContent = text;
}

function showAll() {
  showList();
  const running = answering.isRunning(open);
  welcome.show(open.turns.length === 0, known);
  transcript.show(open, { running, plain: known?.chat === false });
  composer.running(running);
  showMemory();
}

function showList() {
  setText(byId('title'), open.title);
  document.title = open.turns.length > 0 ? `${open.title} · Kvasir` : 'Kvasir';
  setText(byId('kind-in-use'), known ? `cache ${kindOf(open, known) ?? known.kv}` : '');
  shelf.show(conversations.newestFirst(), open.id, one => answering.isRunning(one));
}

function showMemory() {
  const timings = open.turns.findLast(turn => turn.timings)?.timings;
  panel.show(live, { key: open.id, timings }, key => conversations.find(key)?.title ?? null);
}

function showState(state) {
  const other = state && (state.model !== known?.model || state.chat !== known?.chat || state.kv !== known?.kv);
  known = state ?? known;
  setText(
    byId('kept-where'),
    known?.store
      ? 'Conversations are saved in this browser, and their cached prefixes in the server’s store.'
      : 'Conversations are saved in this browser.',
  );
  if (other) {
    setText(byId('model-name'), state.model);
    composer.mode(state);
    showAll();
  } else {
    showMemory();
  }
}

function showTheme(name) {
  const button = byId('theme');
  button.replaceChildren(icon(name));
  const said = { system: 'Colours: system', light: 'Colours: light', dark: 'Colours: dark' }[name];
  button.setAttribute('aria-label', said);
  button.title = said;
}

/** Announces a finished response as a whole to screen readers, not word by word. */
function tellEnd({ conversation, answer }) {
  showList();
  if (conversation === open) {
    showAll();
    announce(answer.state === 'done' ? transcript.textOf(answer) : (answer.error?.message ?? 'Stopped.'));
  }
}

function followHash() {
  const found = conversations.find(location.hash.slice(1));
  if (found && found !== open) {
    show(found);
  } else if (!found && open?.turns.length !== 0) {
    begin();
  }
}

conversations.addEventListener('change', () => {
  // Another tab may have replaced or deleted the open one.
  const stored = conversations.find(open.id);
  open = stored ?? open;
  showAll();
});
conversations.addEventListener('full', () =>
  notice('The browser’s storage is full: this conversation will be lost when the tab is closed.'));
answering.addEventListener('change', ({ detail }) => {
  if (detail.conversation === open) {
    transcript.refresh(answering.isRunning(open));
    composer.running(true);
  }
});
answering.addEventListener('end', ({ detail }) => tellEnd(detail));
live.addEventListener('state', ({ detail }) => showState(detail));
window.addEventListener('popstate', followHash);
byId('open-settings').append(icon('tune'));
byId('open-settings').addEventListener('click', configure);
byId('theme').addEventListener('click', () => showTheme(turnTheme()));

showTheme(theme());
composer.mode({ chat: true });
show(conversations.find(location.hash.slice(1)) ?? conversations.begin());
live.run();
