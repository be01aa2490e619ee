import { Anchor, type AnchorProps } from '@mantine/core'
import { IconArrowLeft } from '@tabler/icons-react'
import { createLink } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, forwardRef } from 'react'

type BackProps = Omit<AnchorProps, 'component'> & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps>

const Back = forwardRef<HTMLAnchorElement, BackProps>(({ children, ...props }, ref) => (
  <Anchor ref={ref} size="sm" display="inline-flex" style={{ alignItems: 'center', gap: 4 }} {...props}>
    <IconArrowLeft size={14} aria-hidden />
    {children}
  </Anchor>
))

/**
 * A link from one object to the list of all: `<PageHeader back={<BackLink to="/exports">All exports</BackLink>} … />`.
 */
export const BackLink = createLink(Back)
