import { byId, make } from './dom.js';

/**
 * Resolves to the button that closed a dialog; Escape cancels. The cancel button does not submit,
 * since Enter presses the first button that does.
 */
function answerOf(dialog) {
  dialog.returnValue = '';
  dialog.querySelector('[data-cancel]').onclick = () => dialog.close('cancel');
  dialog.showModal();
  return new Promise(done => {
    dialog.addEventListener('close', () => done(dialog.returnValue || 'cancel'), { once: true });
  });
}

/** Returns the user's key, or null. */
export async function askForKey(refused) {
  const dialog = byId('key-dialog');
  const field = dialog.querySelector('input');
  byId('key-hint').textContent = refused ? 'The server rejected this key.' : '';
  byId('key-hint').hidden = !refused;
  field.value = '';
  const answer = await answerOf(dialog);
  return answer === 'keep' ? field.value.trim() : null;
}

export async function confirmDelete(conversation) {
  byId('delete-text').textContent =
    `“${conversation.title}” is deleted from this browser, and the server frees its cached prefixes.`;
  return (await answerOf(byId('delete-dialog'))) === 'delete';
}

const numberOf = field => (field.value === '' ? null : Number(field.value));

function offerKinds(select, state, chosen) {
  const own = make('option', { value: '' }, `the server’s (${state?.kv ?? 'unknown'})`);
  select.replaceChildren(own, ...(state?.kinds ?? []).map(kind => make('option', { value: kind }, kind)));
  select.value = (state?.kinds ?? []).includes(chosen) ? chosen : '';
}

/** Returns new settings of a conversation, or null. Empty numbers mean the server's defaults. */
export async function askForSettings({ settings }, state) {
  const dialog = byId('settings-dialog');
  const { system, temperature, maxTokens, kv } = dialog.querySelector('form').elements;
  system.value = settings.system ?? '';
  temperature.value = settings.temperature ?? '';
  maxTokens.value = settings.maxTokens ?? '';
  offerKinds(kv, state, settings.kv);
  byId('system-field').hidden = state?.chat === false;
  byId('kind-field').hidden = (state?.kinds ?? []).length < 2;
  if ((await answerOf(dialog)) !== 'keep') {
    return null;
  }
  return {
    system: system.value,
    temperature: numberOf(temperature),
    maxTokens: numberOf(maxTokens),
    kv: kv.value,
  };
}
