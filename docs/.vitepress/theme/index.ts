import '@fontsource-variable/inter'
import './theme.css'
import theme from 'vitepress/theme-without-fonts'

export default theme
