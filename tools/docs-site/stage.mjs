// Copies the pages and their pictures to one folder, from which VitePress builds. The home page is the README below a
// heading of its own.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pageOf, root, sources, staged } from './pages.mjs'
import { repository } from './repository.mjs'

const docs = join(root, 'docs')

function home(readme) {
  const [, name, rest] = /^# +(.+)\n([^]*)$/.exec(readme) ?? [, 'Kvasir', readme]
  // A first paragraph of words; one that begins with a picture or HTML stays where it is.
  const [, sentence, body] = /^\s*([\w*_][^]*?)\n\s*\n([^]*)$/.exec(rest) ?? [, '', rest]
  const firstPage = ['docs/getting-started.md', 'docs/models.md'].find((source) => sources.includes(source))
  const actions = [
    { theme: 'brand', text: 'Get started', link: '/' + pageOf(firstPage).replace('.md', '') },
    { theme: 'alt', text: 'Results', link: '/results' },
    { theme: 'alt', text: 'Source', link: repository },
  ]
  const front = { layout: 'home', title: name, hero: { name, text: plain(sentence), actions } }
  return `---\n${JSON.stringify(front, null, 2)}\n---\n\n${body}`
}

function plain(markdown) {
  return markdown
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}

function stagePage(source) {
  const text = readFileSync(join(root, source), 'utf8')
  const to = join(staged, pageOf(source))
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, source === 'README.md' ? home(text) : text)
}

function stagePictures() {
  const isPicture = (path) => !/\.[^/\\.]+$/.test(path) || /\.(svg|png|jpe?g|webp|gif)$/.test(path)
  cpSync(docs, staged, { recursive: true, filter: isPicture })
}

function stage() {
  rmSync(staged, { recursive: true, force: true })
  mkdirSync(join(staged, 'public'), { recursive: true })
  stagePictures()
  sources.forEach(stagePage)
  cpSync(fileURLToPath(new URL('public', import.meta.url)), join(staged, 'public'), { recursive: true })
}

stage()
console.log(`${sources.length} pages in ${relative(root, staged)}`)
