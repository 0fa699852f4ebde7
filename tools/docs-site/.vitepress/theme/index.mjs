import DefaultTheme from 'vitepress/theme-without-fonts'
import { useData } from 'vitepress'
import { h } from 'vue'
import './style.css'

function SourceLink() {
  const { frontmatter } = useData()
  return h('p', { class: 'source-link' }, h('a', { href: frontmatter.value.source }, 'Source of this page'))
}

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-footer-before': () => h(SourceLink) }),
}
