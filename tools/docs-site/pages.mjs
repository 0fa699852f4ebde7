// Which Markdown files become pages, where they are on the site, and the order of the sidebar.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { join, posix } from 'node:path'

export const root = fileURLToPath(new URL('../..', import.meta.url))

// Within this folder, because pages are compiled to code that needs its libraries.
export const staged = fileURLToPath(new URL('staged', import.meta.url))

// Names of files in docs/ without their ending; files of the root are written with it. Those that do not exist are left
// out, and pages that no group names are listed in the last one.
const groups = [
  ['Guide', ['getting-started', 'choosing-a-cache', 'models']],
  ['Interfaces', ['server', 'java-api', 'frameworks', 'grammar', 'gpu', 'store']],
  ['Methods', ['patternkv', 'pm-kvq', 'mixkvq', 'commvq', 'mead', 'baselines'].map((name) => `methods/${name}`)],
  ['Tools and operation', ['lab', 'reproduce', 'roundtrip', 'operations']],
  ['Design and results', ['design', 'kernels', 'adding-a-method', 'benchmarks', 'results', 'claims']],
  ['Reference', ['format', 'dependencies']],
  ['Project', ['CONTRIBUTING.md', 'releasing', 'experiments', 'CHANGELOG.md', 'SECURITY.md', 'CODE_OF_CONDUCT.md']],
]
const last = 'More'

// Headings of pages that say more than the sidebar needs.
const shortTitles = {
  'CONTRIBUTING.md': 'Contributing',
  'CHANGELOG.md': 'Changelog',
  'SECURITY.md': 'Security',
  'CODE_OF_CONDUCT.md': 'Code of conduct',
}

// The page of a file: docs/methods/mead.md is /methods/mead, CHANGELOG.md is /changelog, README.md is the home page.
export function pageOf(source) {
  if (source === 'README.md') return 'index.md'
  return source.startsWith('docs/') ? source.slice('docs/'.length) : source.toLowerCase().replaceAll('_', '-')
}

function markdownUnder(folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (entry.isDirectory()) return markdownUnder(path)
    return entry.name.endsWith('.md') ? [path] : []
  })
}

function sourceOf(name) {
  return name.endsWith('.md') ? name : `docs/${name}.md`
}

const named = groups.flatMap(([, names]) => names.map(sourceOf))

// Paths from the root of the repository, with slashes.
export const sources = [...new Set(['README.md', ...named, ...markdownUnder('docs')])].filter((path) =>
  existsSync(join(root, path)),
)

const sourcesByPage = new Map(sources.map((source) => [pageOf(source), source]))

// The file that a staged page was made of.
export function sourceOfPage(page) {
  return sourcesByPage.get(page)
}

function titleOf(source) {
  const heading = /^# +(.+)$/m.exec(readFileSync(join(root, source), 'utf8'))
  const title = heading ? heading[1].replaceAll('`', '') : posix.basename(source, '.md')
  // What follows a colon explains the name.
  return shortTitles[source] ?? title.split(': ')[0]
}

function item(source) {
  return { text: titleOf(source), link: '/' + pageOf(source).replace(/\.md$/, '') }
}

function inFolder(source, folder) {
  return posix.dirname(source) === `docs/${folder}`
}

export function sidebar() {
  const unnamed = sources.filter((source) => source !== 'README.md' && !named.includes(source)).sort()
  const all = groups.map(([text, names]) => {
    const own = names.map(sourceOf).filter((source) => sources.includes(source))
    const others = unnamed.filter((source) => inFolder(source, text.toLowerCase()))
    return { text, items: [...own, ...others].map(item) }
  })
  const rest = unnamed.filter((source) => !groups.some(([text]) => inFolder(source, text.toLowerCase())))
  return [...all, { text: last, items: rest.map(item) }].filter((group) => group.items.length > 0)
}
