// Markdown is written for its place in the repository. These rules make it right for the site: links to pages,
// links to other files of the repository, pictures, and code without a language.
import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import { pageOf, root, sourceOfPage, sources } from './pages.mjs'
import { addressOf } from './repository.mjs'

const elsewhere = /^([a-z][a-z0-9+.-]*:|\/\/|#)/i

// What GitHub makes of a heading, so that anchors mean the same there and here.
export function slug(heading) {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-')
}

function resolve(source, target) {
  const path = posix.normalize(posix.join(posix.dirname(source), decodeURI(target)))
  if (path.startsWith('..') || !existsSync(join(root, path))) {
    throw new Error(`${source}: links to ${target}, which is not in the repository`)
  }
  return path.replace(/\/$/, '')
}

export function linkFor(source, target) {
  if (elsewhere.test(target)) return target
  const [, file, anchor] = /^([^#]*)(#.*)?$/.exec(target)
  const path = resolve(source, file)
  return (sources.includes(path) ? '/' + pageOf(path) : addressOf(path)) + (anchor ?? '')
}

// Pictures are copied with the pages and keep their place among them; those of other folders are not.
export function pictureFor(source, target) {
  if (elsewhere.test(target)) return target
  return pictureUrl(source, resolve(source, target))
}

function pictureUrl(source, path) {
  if (!path.startsWith('docs/')) throw new Error(`${source}: shows ${path}; pictures of pages are in docs/`)
  const from = posix.dirname(pageOf(source))
  const relative = posix.relative(from, path.slice('docs/'.length))
  return relative.startsWith('.') ? relative : './' + relative
}

function mendHtml(source, html) {
  return html
    .replace(/(<a\b[^>]*?\bhref=")([^"]*)(")/g, (all, head, url, tail) => head + linkFor(source, url) + tail)
    .replace(/(<img\b[^>]*?\bsrc=")([^"]*)(")/g, (all, head, url, tail) => head + pictureFor(source, url) + tail)
    .replace(/(<source\b[^>]*?\bsrcset=")([^"]*)(")/g, (all, head, url, tail) => head + pictureFor(source, url) + tail)
}

function mendCode(token) {
  if (token.type === 'code_block') {
    token.type = 'fence'
    token.tag = 'code'
    token.markup = '```'
  }
  if (token.info === '') token.info = languageOf(token.content)
}

function languageOf(code) {
  if (/^\s*\$ /m.test(code)) return 'console'
  return /^\s*(\.\/|kvasir |mvn |tools\/|curl |docker )/m.test(code) ? 'sh' : 'text'
}

// Marks the lines of a console that a command printed.
export const consoleOutput = {
  name: 'console-output',
  line(node, number) {
    if (this.options.lang !== 'console') return
    const lines = this.source.split('\n')
    let first = number - 1
    while (first > 0 && lines[first - 1].endsWith('\\')) first--
    if (!lines[first].trimStart().startsWith('$ ')) this.addClassToHast(node, 'output')
  },
}

// Lines of a shell wrap between words. A hyphen within an option is no place to wrap; a long path may.
export const wholeOptions = {
  name: 'whole-options',
  span(node) {
    if (!['sh', 'console'].includes(this.options.lang) || node.children[0]?.type !== 'text') return
    node.children = node.children[0].value.split(/((?<!\S)\S*-\S{0,24}(?!\S))/).map(wholeOption)
  },
}

function wholeOption(value, index) {
  const text = { type: 'text', value }
  return index % 2 === 0 ? text : { type: 'element', tagName: 'span', properties: { class: 'whole' }, children: [text] }
}

function mend(source, tokens) {
  for (const token of tokens) {
    if (token.type === 'link_open') token.attrSet('href', linkFor(source, token.attrGet('href')))
    if (token.type === 'image') token.attrSet('src', pictureFor(source, token.attrGet('src')))
    if (token.type === 'html_block' || token.type === 'html_inline') token.content = mendHtml(source, token.content)
    if (token.type === 'code_block' || token.type === 'fence') mendCode(token)
    if (token.children) mend(source, token.children)
  }
}

// Where a name or a path in a sentence may wrap, so that it need not break within a word.
export function wrappableCode(md) {
  const plain = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (...args) =>
    plain(...args).replace(/>[^<]+</g, (text) => text.replace(/((?<=\w)[,/]|(?<=\w{6})_)(?=[^\s,/_<])/g, '$&<wbr>'))
}

export function repositoryLinks(md) {
  md.core.ruler.push('repository_links', (state) => {
    const source = sourceOfPage(state.env.relativePath)
    if (source !== undefined) mend(source, state.tokens)
  })
}
