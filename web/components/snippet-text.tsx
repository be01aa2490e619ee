import { Mark } from '@mantine/core'
import { snippetParts } from './snippet-parts.ts'

/** Shows a snippet of a search result as text, with the matches highlighted. */
export function SnippetText({ snippet }: { snippet: string }) {
  return (
    <>
      {snippetParts(snippet).map(({ text, isMatch }, at) => {
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text never move
        return isMatch ? <Mark key={at}>{text}</Mark> : <span key={at}>{text}</span>
      })}
    </>
  )
}
