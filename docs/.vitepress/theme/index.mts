import type { Theme } from 'vitepress';
import DefaultTheme from 'vitepress/theme-without-fonts';
import { h } from 'vue';
import InstallCommand from './InstallCommand.vue';
import LivePlayground from './LivePlayground.vue';
import NotFound from './NotFound.vue';
import './style.css';
import './home.css';
import './code.css';

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'not-found': () => h(NotFound) }),
  enhanceApp({ app }) {
    app.component('InstallCommand', InstallCommand);
    app.component('LivePlayground', LivePlayground);
  },
} satisfies Theme;
