import { Box, Code, Stack, Text, Title } from '@mantine/core'
import { type Change, changesBetween } from './diff.ts'
import styles from './diff-table.module.css'

const words: Record<Change['kind'], string> = {
  added: 'added',
  removed: 'removed',
  changed: 'changed',
  same: 'as before',
}

/** Shows previous and new values, member by member; unchanged members come last. */
export function DiffTable({ before, after }: { before: unknown; after: unknown }) {
  const changes = changesBetween(before, after)
  const ordered = [...changes.filter(({ kind }) => kind !== 'same'), ...changes.filter(({ kind }) => kind === 'same')]
  if (ordered.length === 0) return null
  return (
    <Box component="section" aria-labelledby="what-changed">
      <Title order={3} size="h4" mb="xs" id="what-changed">
        Before and after
      </Title>
      <Stack gap={6} component="ul" className={styles.list}>
        {ordered.map(({ path, kind, before: was, after: is }) => (
          <li key={path} className={styles[kind]}>
            <Text size="sm" fw={600}>
              {path}{' '}
              <Text span size="xs" c="dimmed">
                {words[kind]}
              </Text>
            </Text>
            {was !== undefined && kind !== 'same' && (
              <Code component="del" className={styles.before}>
                <span className="visually-hidden">before: </span>
                {was}
              </Code>
            )}
            {is !== undefined && (
              <Code component="ins" className={kind === 'same' ? styles.kept : styles.after}>
                <span className="visually-hidden">{kind === 'same' ? '' : 'after: '}</span>
                {is}
              </Code>
            )}
          </li>
        ))}
      </Stack>
    </Box>
  )
}
