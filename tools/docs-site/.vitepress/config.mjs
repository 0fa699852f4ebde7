import { join } from 'node:path'
import { defineConfig } from 'vitepress'
import { consoleOutput, repositoryLinks, slug, wholeOptions, wrappableCode } from '../markdown.mjs'
import { root, sidebar, sourceOfPage, staged } from '../pages.mjs'
import { repository } from '../repository.mjs'

const pages = sidebar()
const pageNamed = (link) => pages.flatMap((group) => group.items).some((item) => item.link === link)

const nav = [
  { text: 'Guide', link: '/getting-started' },
  { text: 'Methods', link: '/methods/mead' },
  { text: 'Benchmarks', link: '/benchmarks' },
  { text: 'Results', link: '/results' },
].filter((item) => pageNamed(item.link))

export default defineConfig({
  title: 'Kvasir',
  description: 'Language models on the JVM with a KV cache of 1 to 4 bits per value',
  lang: 'en',
  base: process.env.DOCS_BASE || '/',
  srcDir: staged,
  outDir: join(root, 'target', 'site'),
  cacheDir: join(root, 'target', 'docs-site-cache'),
  cleanUrls: false,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: (process.env.DOCS_BASE || '/') + 'mark.svg' }]],
  markdown: {
    anchor: { slugify: slug },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark' },
    codeTransformers: [consoleOutput, wholeOptions],
    config: (md) => md.use(repositoryLinks).use(wrappableCode),
  },
  themeConfig: {
    logo: '/mark.svg',
    nav: [...nav, { text: 'Javadoc', link: '/api/index.html', target: '_self' }],
    sidebar: pages,
    outline: [2, 3],
    search: { provider: 'local' },
    socialLinks: [{ icon: 'github', link: repository }],
    footer: { message: 'Apache License 2.0' },
  },
  // Pages of the root have other names here than there, so the path of the source is kept with each page.
  transformPageData(page) {
    page.frontmatter.source = `${repository}/blob/main/${sourceOfPage(page.relativePath)}`
  },
})
