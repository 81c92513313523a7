/* completion.c: completions of the command line for shells, from the tables of table.c. */
#include "driver/options.h"

#include <stdio.h>
#include <string.h>

static void words_of_command(int bit) {
    for (int i = 0; i < noption; i++)
        if (options[i].commands & bit) printf(" %s%s", options[i].name, options[i].value && options[i].name[1] == '-' ? "=" : "");
}

static void command_words(void) {
    for (int i = 0; i < ncommand; i++) printf("%s%s", i ? " " : "", commands[i].name);
}

/* zsh reads the same function by bashcompinit. */
static void bash_print(void) {
    printf("_tilec() {\n    local word=${COMP_WORDS[COMP_CWORD]} command=${COMP_WORDS[1]} list=\n    COMPREPLY=()\n");
    printf("    if [ \"$COMP_CWORD\" = 1 ]; then\n        COMPREPLY=($(compgen -W '");
    command_words();
    printf(" --help --version --manual --explain=' -- \"$word\"))\n        return\n    fi\n    case $command in\n");
    for (int i = 0; i < ncommand; i++) {
        printf("    %s) list='", commands[i].name);
        words_of_command(1 << i);
        printf("' ;;\n");
    }
    printf("    esac\n    case $word in\n    -*) COMPREPLY=($(compgen -W \"$list\" -- \"$word\")) ;;\n"
           "    *) COMPREPLY=($(compgen -f -- \"$word\")) ;;\n    esac\n}\n"
           "complete -o filenames -F _tilec tilec\n");
}

static void zsh_print(void) {
    printf("#compdef tilec\nautoload -U +X bashcompinit && bashcompinit\n");
    bash_print();
}

/* Single quotes, as fish reads them. */
static void fish_quote(const char *s) {
    putchar('\'');
    for (; *s; s++) {
        if (*s == '\'' || *s == '\\') putchar('\\');
        putchar(*s);
    }
    putchar('\'');
}

static void fish_option(const Option *o) {
    printf("complete -c tilec -n '__fish_seen_subcommand_from");
    for (int i = 0; i < ncommand; i++)
        if (o->commands & 1 << i) printf(" %s", commands[i].name);
    bool joined = o->name[1] == '-';
    printf("' %s %s%s -d ", joined ? "-l" : o->name[2] ? "-o" : "-s", o->name + (joined ? 2 : 1), o->value ? " -r" : "");
    fish_quote(o->help);
    printf("\n");
}

static void fish_print(void) {
    for (int i = 0; i < ncommand; i++) {
        printf("complete -c tilec -n __fish_use_subcommand -a %s -d ", commands[i].name);
        fish_quote(commands[i].help);
        printf("\n");
    }
    for (int i = 0; i < noption; i++) fish_option(&options[i]);
}

int completion_print(const char *shell) {
    if (strcmp(shell, "bash") == 0) return bash_print(), EXIT_OK;
    if (strcmp(shell, "zsh") == 0) return zsh_print(), EXIT_OK;
    if (strcmp(shell, "fish") == 0) return fish_print(), EXIT_OK;
    fprintf(stderr, "tilec: error: --completion does not know '%s'; it takes bash, zsh or fish\n", shell);
    return EXIT_USAGE;
}
