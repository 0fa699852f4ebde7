// Where the sources are shown on the web.
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './pages.mjs'

const branch = 'main'
const unlessThePomSays = 'https://github.com/kvasir-dev/kvasir'

function urlOfPom() {
  const pom = readFileSync(join(root, 'pom.xml'), 'utf8').replace(/<!--[^]*?-->/g, '')
  const scm = /<scm\b[^>]*>([^]*?)<\/scm>/.exec(pom)
  const url = /<url>\s*([^<]*?)\s*<\/url>/.exec(scm ? scm[1] : '')
  return url ? url[1].replace(/\/+$|\.git$|\/tree\/[^/]+$/g, '') : unlessThePomSays
}

export const repository = urlOfPom()

// The address of a file or folder, given from the root of the repository. Throws if there is none.
export function addressOf(path) {
  const kind = statSync(join(root, path)).isDirectory() ? 'tree' : 'blob'
  return `${repository}/${kind}/${branch}/${path}`
}
