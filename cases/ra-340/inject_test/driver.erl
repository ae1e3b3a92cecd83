%% Five members of one cluster in one Erlang node, moved by commands.
%%
%%     driver:main([Pipe, DataFolder])
%%
%% Started as the program under test. Reads one command a line from a named pipe
%% and answers each with one line that begins with `= `. It decides nothing.
%%
%% Commands: `form` - `lead MEMBER` - `leader MEMBER` - `write MEMBER VALUE` -
%% `read MEMBER MILLISECONDS` - `stop MEMBER` - `restart MEMBER`.
%% Answers: `= ok`, `= ok VALUE`, `= timeout`, `= error TEXT`.
-module(driver).
-export([main/1, set/2]).

-define(MEMBERS, [a, b, c, d, e]).

%% The replicated machine: a register.
set(Value, _Old) -> Value.

main([Pipe, Folder]) ->
    logger:set_primary_config(level, none),
    application:load(ra),
    application:set_env(ra, data_dir, Folder),
    ok = filelib:ensure_dir(filename:join(Folder, "x")),
    {ok, _} = application:ensure_all_started(ra),
    {ok, _} = ra_system:start_default(),
    %% A port, as the run-time system itself opens no pipes.
    Cat = open_port({spawn_executable, "/bin/cat"}, [{args, [Pipe]}, {line, 1024}, exit_status]),
    loop(Cat).

loop(Cat) ->
    receive
        {Cat, {data, {eol, Line}}} ->
            Answer = try run(string:lexemes(Line, " "))
                     catch _:Why -> io_lib:format("error ~0p", [Why])
                     end,
            io:put_chars(["= ", [C || C <- lists:flatten(Answer), C =/= $\n], "\n"]),
            loop(Cat);
        {Cat, {exit_status, _}} ->
            halt(0)
    end.

id(Name) -> {list_to_existing_atom(Name), node()}.

run(["form"]) ->
    Ids = [{M, node()} || M <- ?MEMBERS],
    {ok, Started, []} = ra:start_cluster(default, <<"register">>, {simple, fun ?MODULE:set/2, <<>>}, Ids),
    5 = length(Started),
    "ok";
run(["lead", Name]) ->
    Me = id(Name),
    case ra:members(Me, 2000) of
        {ok, _, Me} -> "ok " ++ Name;
        {ok, _, Leader} -> io_lib:format("asked ~0p", [ra:transfer_leadership(Leader, Me)]);
        Other -> io_lib:format("error ~0p", [Other])
    end;
run(["leader", Name]) ->
    case ra:members(id(Name), 2000) of
        {ok, _, {Leader, _}} -> "ok " ++ atom_to_list(Leader);
        Other -> io_lib:format("error ~0p", [Other])
    end;
run(["write", Name, Value]) ->
    case ra:process_command(id(Name), list_to_binary(Value), 10000) of
        {ok, _, _} -> "ok";
        {timeout, _} -> "timeout";
        Other -> io_lib:format("error ~0p", [Other])
    end;
run(["read", Name, Limit]) ->
    case ra:consistent_query(id(Name), fun(V) -> V end, list_to_integer(Limit)) of
        {ok, Value, _} -> ["ok ", binary_to_list(Value)];
        {timeout, _} -> "timeout";
        Other -> io_lib:format("error ~0p", [Other])
    end;
run(["stop", Name]) ->
    case ra:stop_server(id(Name)) of
        ok -> "ok";
        Other -> io_lib:format("error ~0p", [Other])
    end;
run(["restart", Name]) ->
    case ra:restart_server(id(Name)) of
        ok -> "ok";
        Other -> io_lib:format("error ~0p", [Other])
    end.
